package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

// None of these run beside other tests: they end managers.

func TestKilledLeaderIsReplaced(t *testing.T) {
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	old := a.leader()
	since := a.site("eu").cluster.Audit().End()
	if err := old.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	a.site("eu").delete("v1", "ConfigMap", "web")
	a.apply(webLayer, "$GREETING", "good morning")
	a.expectGreeting("good morning")
	t.Logf("served %s after the leader's end", time.Since(killed).Round(time.Millisecond))
	a.awaitConverged("web")
	a.eventually("the members' owner is another", func(g gomega.Gomega) {
		for _, s := range a.sites {
			owner := a.member(g, s.name).Status.Owner
			g.Expect(owner).NotTo(gomega.Equal(old.Identity))
			g.Expect(owner).NotTo(gomega.BeEmpty())
		}
	})
	a.now("the audit log tells who wrote", func(g gomega.Gomega) {
		writes := a.site("eu").writes(g, since, a.site("eu").ours)
		g.Expect(writes).NotTo(gomega.BeEmpty())
		g.Expect(writes).NotTo(gomega.ContainElement(gomega.ContainSubstring("(" + old.Identity + ")")))
	})
}

func TestLeaderThatIsAskedToEndHandsOverAtOnce(t *testing.T) {
	const limit = 10 * time.Second // of the 15 s after which a Lease would run out
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	old := a.leader()
	asked := time.Now()
	if err := old.Terminate(shutdownTimeout); err != nil { // an exit code other than 0 is an error
		t.Fatal(err)
	}
	ended := time.Since(asked)
	if holder, err := holder(t.Context(), a.hub); err != nil || holder == old.Identity {
		t.Errorf("the Lease was not released before the exit: it names %q (%v)", holder, err)
	}
	a.apply(webLayer, "$GREETING", "good morning")
	a.expectGreeting("good morning")
	took := time.Since(asked)
	t.Logf("ended after %s, others served after %s", ended.Round(time.Millisecond), took.Round(time.Millisecond))
	if took > limit {
		t.Errorf("handing over took %s, want %s", took, limit)
	}
}

func TestRestartReappliesNothing(t *testing.T) {
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(deploymentLayer)
	a.apply(patched, "$PATH", "/data/greeting", "- target: {kind: ConfigMap, name: other}", "- target: {kind: ConfigMap, name: web}")
	a.awaitConverged("web", "app", "patches")
	before := a.bindingStatuses()

	stopAll(t)
	since := map[string]fleet.AuditOffset{}
	for _, s := range a.sites {
		since[s.name] = s.cluster.Audit().End()
	}
	first, second := startReplica(t), startReplica(t)
	a.eventually("a new manager owns the members", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(a.member(g, s.name).Status.Owner).To(gomega.BeElementOf(first.Identity, second.Identity))
		}
	})
	a.throughout(6*time.Second, "nothing is sent to members, and bindings say what they said", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.writes(g, since[s.name])).To(gomega.BeEmpty(), s.name)
		}
		g.Expect(a.bindingStatuses()).To(gomega.Equal(before))
		for _, name := range []string{"web", "app", "patches"} {
			g.Expect(isConverged(a.layer(g, name))).To(gomega.BeTrue(), name)
		}
	})

	// And yet it looks: what has changed is mended.
	a.site("us").delete("v1", "ConfigMap", "web")
	a.expectGreeting("moin")
}

// bindingStatuses are what the test's bindings say, the time of it included.
func (a *arena) bindingStatuses() map[string]v1alpha1.LayerBindingStatus {
	a.Helper()
	var list v1alpha1.LayerBindingList
	if err := a.hub.List(a.Context(), &list, client.InNamespace(a.namespace)); err != nil {
		a.Fatal(err)
	}
	statuses := map[string]v1alpha1.LayerBindingStatus{}
	for _, binding := range list.Items {
		statuses[binding.Name] = binding.Status
	}
	return statuses
}

func TestF52LayerDeletedWhileNoManagerRuns(t *testing.T) {
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(besideWeb, "name: web}", "name: old}", "name: web,", "name: old,", "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web", "old")

	stopAll(t)
	a.removeLayer("old")
	a.apply(webLayer, "$GREETING", "good morning")
	a.site("eu").delete("v1", "ConfigMap", "web")
	startReplica(t)

	a.eventually("the deleted layer is undone and released", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.lacks(g, "v1", "ConfigMap", "old")
			s.lacks(g, "v1", "ConfigMap", "other")
		}
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("web"))
	})
	a.expectGreeting("good morning")
	a.awaitConverged("web")
}
