package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// rigid is a layer of objects with fields that a server does not let change.
const rigid = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  sync: {$SYNC}
  manifests:
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: app, namespace: $NS}
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: "app:$IMAGE"}]}}}
  - apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: app, namespace: $NS}
    spec:
      replicas: 0
      serviceName: app
      selector: {matchLabels: {app: stateful}}
      template:
        metadata: {labels: {app: stateful}}
        spec: {containers: [{name: app, image: app}]}
      volumeClaimTemplates:
      - metadata: {name: data}
        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "$STORAGE"}}}
  - apiVersion: v1
    kind: Service
    metadata: {name: app, namespace: $NS}
    spec: {selector: {app: app}, ports: [{port: 80}]$ADDRESS}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app, namespace: $NS}
    spec:
      replicas: 1
      selector: {matchLabels: {app: "$APP"}}
      template:
        metadata: {labels: {app: "$APP"}}
        spec: {containers: [{name: app, image: app}]}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: "$GREETING"}}
`

var rigidKinds = map[string]string{"Job": "batch/v1", "StatefulSet": "apps/v1", "Service": "v1", "Deployment": "apps/v1"}

func TestF42ImmutableFieldsByPolicy(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	before := []string{"$IMAGE", "1", "$STORAGE", "1Gi", "$ADDRESS", "", "$APP", "app", "$GREETING", "hello", "$SYNC", ""}
	after := []string{"$IMAGE", "2", "$STORAGE", "2Gi", "$ADDRESS", ", clusterIP: None", "$APP", "web"}
	a.apply(rigid, before...)
	a.awaitConverged("app")
	kept := a.rigidUIDs()

	// By default they stay as they are, and are reported; the rest of the set goes on.
	a.apply(rigid, append(after, "$GREETING", "good morning", "$SYNC", "")...)
	a.expectGreeting("good morning")
	a.eventually("each is reported", func(g gomega.Gomega) {
		binding := a.binding(g, "app", "eu")
		for kind := range rigidKinds {
			complaint{reason: "Immutable"}.expectOn(g, binding, kind+" "+a.namespace+"/app")
		}
		g.Expect(binding.Status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		g.Expect(binding.Status.Ready).To(gomega.Equal("1/5"))
	})
	a.now("none was touched", func(g gomega.Gomega) { g.Expect(a.rigidUIDs()).To(gomega.Equal(kept)) })

	// Where the layer allows it, and only there, they are made anew.
	a.apply(rigid, append(after, "$GREETING", "good morning", "$SYNC", "recreate: [{kind: Job}, {kind: StatefulSet, name: app}]")...)
	a.eventually("two are new, and two are as they were", func(g gomega.Gomega) {
		now := a.rigidUIDs()
		g.Expect(now["Service"]).To(gomega.Equal(kept["Service"]))
		g.Expect(now["Deployment"]).To(gomega.Equal(kept["Deployment"]))
		g.Expect(now["Job"]).NotTo(gomega.BeElementOf(kept["Job"], types.UID("")))
		g.Expect(now["StatefulSet"]).NotTo(gomega.BeElementOf(kept["StatefulSet"], types.UID("")))
		g.Expect(a.binding(g, "app", "eu").Status.Problems).To(gomega.HaveLen(2))
	})
	a.awaitEvent("app", "eu", "Recreated", "Job "+a.namespace+"/app", "StatefulSet "+a.namespace+"/app")

	a.apply(rigid, append(after, "$GREETING", "good morning", "$SYNC", "recreate: [{name: app}]")...)
	a.awaitConverged("app")
	a.now("all are new, and as the layer has them", func(g gomega.Gomega) {
		eu := a.site("eu")
		for kind, uid := range a.rigidUIDs() {
			g.Expect(uid).NotTo(gomega.BeElementOf(kept[kind], types.UID("")), kind)
		}
		g.Expect(at(eu.object(g, "v1", "Service", "app"), "spec", "clusterIP")).To(gomega.Equal("None"))
		g.Expect(at(eu.object(g, "apps/v1", "Deployment", "app"), "spec", "selector", "matchLabels", "app")).To(gomega.Equal("web"))
	})
	a.site("eu").expectSilence()
}

// rigidUIDs are the UIDs of the objects of that layer on eu, by kind; empty for one that is
// not there.
func (a *arena) rigidUIDs() map[string]types.UID {
	uids := map[string]types.UID{}
	for kind, apiVersion := range rigidKinds {
		uids[kind] = ""
		if u, err := a.site("eu").find(apiVersion, kind, "app"); err == nil {
			uids[kind] = u.GetUID()
		}
	}
	return uids
}
