package e2e

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// disputed is a layer of whose fields another manager claims some.
const disputed = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  sync: {conflicts: $POLICY}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: hello, level: "1"}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}, data: {edit: "$EDIT"}}
`

func TestYieldLeavesFieldsToWhoHoldsThem(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	web := "ConfigMap " + a.namespace + "/web"
	eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: theirs}}`)

	a.apply(disputed, "$POLICY", "Yield", "$EDIT", "1")
	a.awaitConverged("app")
	a.eventually("the field is the other's, and that is shown", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "theirs", "level": "1"}))
		a.expectYielded(g, "data.greeting")
		complaint{"Yielded", []string{"data.greeting", "tuner"}}.expectOn(g, a.binding(g, "app", "eu"), web)
	})

	// What the other does with it is none of our business.
	eu.expectSilence(func() {
		eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: theirs again}}`)
	})
	a.now("it is no drift", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "app", "eu").Status.Drift).To(gomega.BeZero())
	})

	// The other takes one more field, which we had held: that is its own from then on.
	eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: theirs again, level: "9"}}`)
	a.eventually("the second field is yielded too", func(g gomega.Gomega) {
		a.expectYielded(g, "data.greeting", "data.level")
		g.Expect(eu.data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "theirs again", "level": "9"}))
	})
	a.awaitConverged("app")
	a.now("nobody claims to have put it back", func(g gomega.Gomega) {
		g.Expect(a.notes(g, "DriftMended", "LayerBinding", "")).To(gomega.BeEmpty())
	})

	a.apply(disputed, "$POLICY", "Force", "$EDIT", "2")
	a.eventually("by force they are ours", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "hello", "level": "1"}))
		a.expectYielded(g)
	})
	a.awaitConverged("app")
}

// expectYielded checks which fields of the ConfigMap "web" the inventory calls another's.
func (a *arena) expectYielded(g gomega.Gomega, paths ...string) {
	var yielded []string
	for _, entry := range a.binding(g, "app", "eu").Status.Inventory {
		for _, field := range entry.Yielded {
			g.ExpectWithOffset(1, entry.ID).To(gomega.HaveSuffix("/web"))
			g.ExpectWithOffset(1, field.Manager).To(gomega.Equal("tuner"))
			yielded = append(yielded, field.Path)
		}
	}
	g.ExpectWithOffset(1, yielded).To(gomega.ConsistOf(paths))
}

func TestFailLeavesTheObjectAsItIs(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: theirs}}`)

	a.apply(disputed, "$POLICY", "Fail", "$EDIT", "1")
	conflict := complaint{"FieldConflict", []string{"ConfigMap " + a.namespace + "/web", "data.greeting", "tuner"}}
	a.awaitProblem("app", "eu", conflict)
	a.apply(disputed, "$POLICY", "Fail", "$EDIT", "2")
	a.eventually("the rest of the layer goes on", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "other")).To(gomega.HaveKeyWithValue("edit", "2"))
	})
	a.awaitProblem("app", "eu", conflict)
	a.now("the object is as it was", func(g gomega.Gomega) {
		web := eu.object(g, "v1", "ConfigMap", "web")
		g.Expect(at(web, "data")).To(gomega.Equal(map[string]any{"greeting": "theirs"}))
		g.Expect(web.GetLabels()).NotTo(gomega.HaveKey(v1alpha1.LabelHub))
	})
	eu.expectSilence()

	// A layer that no longer claims the field has no conflict.
	a.apply(disputed, "$POLICY", "Fail", "$EDIT", "3", "greeting: hello, ", "")
	a.awaitConverged("app")
	a.now("both have what they claim", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "theirs", "level": "1"}))
	})

	// A field of ours that another takes later is not taken back.
	eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: theirs, level: "9"}}`)
	a.awaitProblem("app", "eu", complaint{"FieldConflict", []string{"data.level", "tuner"}})
	a.now("it keeps the other's value", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "web")).To(gomega.HaveKeyWithValue("level", "9"))
	})
}
