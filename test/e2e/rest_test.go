package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// quiet is how long nothing must be sent at rest.
const quiet = 20 * time.Second

// expectRest makes sure that nothing is written to the test's objects on members for a
// while.
func (a *arena) expectRest() {
	a.Helper()
	a.now("the audit log tells of the writes before", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.writes(g, 0, s.ours)).NotTo(gomega.BeEmpty())
		}
	})
	since := map[*site]fleet.AuditOffset{}
	for _, s := range a.sites {
		since[s] = s.cluster.Audit().End()
	}
	a.throughout(quiet, "members get no writes at rest", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.writes(g, since[s], s.ours)).To(gomega.BeEmpty())
		}
	})
}

// Not beside other tests: the whole hub has to be at rest.
func TestAtRestTheHubWritesItsLeasesAndNothingElse(t *testing.T) {
	a := newArena(t)
	for _, s := range a.sites {
		a.patch(&v1alpha1.MemberCluster{ObjectMeta: a.onHub(s.name)}, `{"metadata":{"labels":{"e2e":"`+a.namespace+`"}}}`)
	}
	a.apply(deploymentLayer)
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: ClusterLayer
metadata: {name: base-$NS}
spec:
  order: 0
  enforce: true
  clusterSelector: {matchLabels: {e2e: $NS}}
  manifests:
  - apiVersion: networking.k8s.io/v1
    kind: NetworkPolicy
    metadata: {name: default-deny, namespace: $NS}
    spec: {podSelector: {}, policyTypes: [Ingress]}
  - apiVersion: v1
    kind: Service
    metadata: {name: app, namespace: $NS}
    spec: {selector: {app: app}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: region}
spec:
  order: 200
  template: CEL
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {cluster: "${cluster.name}"}}
  patches:
  - target: {kind: Deployment, name: app}
    jsonPatch: [{op: replace, path: /spec/replicas, value: 1}]
`)
	a.awaitConverged("app", "web", "region", "ClusterLayer/base-$NS")
	time.Sleep(5 * time.Second) // aggregation and events have their windows

	hub := a.fleet.Hub().Audit()
	sinceHub := hub.End()
	since := map[string]fleet.AuditOffset{}
	for _, m := range a.fleet.Members() {
		since[m.Name()] = m.Audit().End()
	}
	a.throughout(quiet, "nobody gets any writes at rest", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.writes(g, since[s.name])).To(gomega.BeEmpty(), s.name)
		}
		events, _, err := hub.Events(sinceHub, fleet.Writes, fleet.NotLeases, fleet.ByUser(install.User))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(described(events)).To(gomega.BeEmpty(), "hub")
	})
	leases, _, err := hub.Events(sinceHub, fleet.Writes, fleet.ByUser(install.User))
	if err != nil || len(leases) == 0 {
		t.Errorf("not even Leases were written: the test looks at the wrong place (%v)", err)
	}
}

func TestF35StatusInAManifestIsNoDrift(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(deploymentLayer, `    spec:
      replicas: 2`, `    status: {replicas: 99, availableReplicas: 99, observedGeneration: 77}
    spec:
      replicas: 2`)
	a.awaitConverged("app")
	a.expectRest()
	a.now("the status is the member's own", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(at(s.object(g, "apps/v1", "Deployment", "app"), "status", "replicas")).To(gomega.BeEquivalentTo(2))
		}
	})
}

func TestF37EmptyValuesAreNoDrift(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: empty}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app, namespace: $NS, annotations: null, labels: {}}
    spec:
      replicas: 1
      strategy: {}
      selector: {matchLabels: {app: app}}
      template:
        metadata: {labels: {app: app}, annotations: {}}
        spec:
          volumes: []
          nodeSelector: {}
          tolerations: []
          securityContext: {}
          initContainers: null
          containers:
          - name: app
            image: app
            env: []
            args: []
            ports: []
            volumeMounts: []
            securityContext: {}
            resources: {}
          - name: spelled
            image: app
            resources: {requests: {cpu: 1000m, memory: 1024Mi}, limits: {cpu: "2.0", memory: 2048Mi}}
  - apiVersion: v1
    kind: Service
    metadata: {name: app, namespace: $NS, annotations: {}}
    spec: {selector: {app: app}, externalIPs: [], ports: [{port: 80}]}
  - apiVersion: networking.k8s.io/v1
    kind: NetworkPolicy
    metadata: {name: app, namespace: $NS}
    spec: {podSelector: {}, ingress: [], egress: [], policyTypes: [Ingress]}
  - {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: app, namespace: $NS}, rules: []}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: $NS}, data: {}, binaryData: null}
`)
	a.awaitConverged("empty")
	a.expectRest()
}
