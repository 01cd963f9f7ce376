package e2e

import (
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/test/fleet"
)

// None of these run beside other tests: they end managers.

// A binding stays small, however much it answers for, and a manager that starts knows from
// it what there is.
func TestLayerOfManyObjects(t *testing.T) {
	const objects, pruned, longest = 300, 40, 64 << 10
	a := newArena(t, "eu")
	eu := a.site("eu")
	restoreReplicas(t)
	inPlace := func(count int) {
		t.Helper()
		a.awaitConverged("app")
		a.now("the binding lists all in little space", func(g gomega.Gomega) {
			g.Expect(eu.configMaps(g)).To(gomega.Equal(count))
			binding := a.binding(g, "app", "eu")
			g.Expect(binding.Status.Objects).To(gomega.BeEquivalentTo(count))
			g.Expect(binding.Status.Inventory).To(gomega.BeEmpty())
			raw, err := json.Marshal(binding)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(len(raw)).To(gomega.BeNumerically("<", longest))
		})
	}
	a.apply(many, "$REGION", "eu", "$OBJECTS", configMaps(objects))
	inPlace(objects)
	since := eu.cluster.Audit().End()
	a.apply(many, "$REGION", "eu", "$OBJECTS", configMaps(objects-pruned))
	inPlace(objects - pruned)
	a.eventually("each was deleted once", func(g gomega.Gomega) {
		g.Expect(eu.deletes(g, since)).To(gomega.HaveLen(pruned))
		g.Expect(eu.writes(g, since, eu.ours)).To(gomega.HaveLen(pruned))
	})

	a.expectRestartSendsNothing()
	eu.delete("v1", "ConfigMap", "cm-7")
	a.eventually("one that is deleted is still missed", func(g gomega.Gomega) {
		g.Expect(eu.configMaps(g)).To(gomega.Equal(objects - pruned))
	})
	a.awaitConverged("app")
	a.apply(many+"  sync: {pruneLimit: 500}\n", "$REGION", "eu", "$OBJECTS", configMaps(5))
	a.awaitConverged("app")
	a.now("a short list is one that people can read", func(g gomega.Gomega) {
		status := a.binding(g, "app", "eu").Status
		g.Expect(status.Inventory).To(gomega.HaveLen(5))
		g.Expect(status.InventoryData).To(gomega.BeEmpty())
	})
}

// What a manager has found out of an object, and does not do again, the next one knows.
func TestRestartForgetsNoYield(t *testing.T) {
	a := newArena(t, "eu")
	eu := a.site("eu")
	restoreReplicas(t)
	eu.apply("tuner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: theirs}}`)
	a.apply(disputed, "$POLICY", "Yield", "$EDIT", "1")
	a.awaitConverged("app")

	a.expectRestartSendsNothing()
	a.now("the field is still the other's, and shown", func(g gomega.Gomega) {
		a.expectYielded(g, "data.greeting")
		complaint{"Yielded", []string{"data.greeting", "tuner"}}.expectOn(g, a.binding(g, "app", "eu"), "ConfigMap "+a.namespace+"/web")
		g.Expect(a.binding(g, "app", "eu").Status.State).To(gomega.Equal(v1alpha1.StateConverged))
	})
}

// expectRestartSendsNothing ends all managers, starts others, and makes sure that they send
// nothing to the test's members.
func (a *arena) expectRestartSendsNothing() {
	a.Helper()
	before := a.bindingStatuses()
	stopAll(a.T)
	since := map[*site]fleet.AuditOffset{}
	for _, s := range a.sites {
		since[s] = s.cluster.Audit().End()
	}
	first, second := startReplica(a.T), startReplica(a.T)
	a.eventually("a new manager owns the members", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(hub.OwnerOf(a.member(g, s.name))).To(gomega.BeElementOf(first.Identity, second.Identity))
		}
	})
	a.throughout(moment, "nothing is sent to members, and bindings say what they said", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.writes(g, since[s], s.ours)).To(gomega.BeEmpty())
		}
		g.Expect(a.bindingStatuses()).To(gomega.Equal(before))
	})
}
