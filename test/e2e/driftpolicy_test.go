package e2e

import (
	"encoding/base64"
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// watched is a layer whose drift is dealt with by a policy.
const watched = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  sync: {drift: $POLICY}
  manifests:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app, namespace: $NS}
    spec:
      replicas: 2
      selector: {matchLabels: {app: app}}
      template:
        metadata: {labels: {app: app}}
        spec: {containers: [{name: app, image: app}]}
  - {apiVersion: v1, kind: Secret, metadata: {name: app, namespace: $NS}, stringData: {token: right-s3ntinel}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: hello}}
`

func TestReportedDriftIsToldAndNotMended(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(watched, "$POLICY", "Report")
	a.awaitConverged("app")

	eu.expectSilence(func() {
		eu.scale("app", 3)
		eu.setToken("wrong-s3ntinel")
		eu.delete("v1", "ConfigMap", "web")
		a.eventually("each is told: what, and by whom", func(g gomega.Gomega) {
			binding := a.binding(g, "app", "eu")
			drifted := func(kind string, says ...string) {
				complaint{"Drifted", append(says, "sync.drift is Report")}.expectOn(g, binding, kind)
			}
			drifted("Deployment "+a.namespace+"/app", "spec.replicas", "horizontal-pod-autoscaler")
			drifted("Secret "+a.namespace+"/app", "data.token", "vandal")
			drifted("ConfigMap "+a.namespace+"/web", "deleted")
			g.Expect(binding.Status.Drift).To(gomega.BeEquivalentTo(3))
			g.Expect(binding.Status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		})
	})
	a.expectNowhere("wrong-s3ntinel")

	// Undone on the member, it is no drift any more, whoever holds the fields by now.
	eu.scale("app", 2)
	eu.setToken("right-s3ntinel")
	eu.apply("colleague", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: hello}}`)
	a.eventually("what was undone is no longer told", func(g gomega.Gomega) {
		binding := a.binding(g, "app", "eu")
		g.Expect(problemOf(binding, "Deployment "+a.namespace+"/app")).To(gomega.BeZero())
		g.Expect(problemOf(binding, "Secret "+a.namespace+"/app")).To(gomega.BeZero())
	})
}

// setToken changes the Secret of that layer, as a vandal.
func (s *site) setToken(token string) {
	s.apply("vandal", `{apiVersion: v1, kind: Secret, metadata: {name: app}, data: {token: `+base64.StdEncoding.EncodeToString([]byte(token))+`}}`)
}

func TestCorrectedDriftIsTold(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(watched, "$POLICY", "Report")
	a.awaitConverged("app")
	eu.scale("app", 3)
	a.awaitProblem("app", "eu", complaint{"Drifted", []string{"Deployment " + a.namespace + "/app", "spec.replicas"}})

	// Reported drift is mended once the policy says so.
	a.apply(watched, "$POLICY", "Correct")
	a.eventually("the replicas are back", func(g gomega.Gomega) { g.Expect(eu.replicas(g, "app")).To(gomega.Equal(2)) })
	a.awaitConverged("app")
	a.awaitEvent("app", "eu", "DriftMended", "Deployment "+a.namespace+"/app", "spec.replicas", "horizontal-pod-autoscaler")
}

func TestFieldsAreCededWhereTheRuleHolds(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  sync:
    ignore:
    - target: {kind: ConfigMap}
      when: object.data.tuning == "auto"
      paths: [/data/level]
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: auto, namespace: $NS}, data: {tuning: auto, level: "1"}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: $NS}, data: {tuning: fixed, level: "1"}}
`)
	a.awaitConverged("app")
	for _, name := range []string{"auto", "fixed"} {
		eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`}, data: {level: "9"}}`)
	}
	a.eventually("the field is put back where the rule does not hold", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "fixed")).To(gomega.HaveKeyWithValue("level", "1"))
	})
	eu.expectSilence()
	a.now("and ceded where it does", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "auto")).To(gomega.HaveKeyWithValue("level", "9"))
	})
	a.awaitConverged("app")
}
