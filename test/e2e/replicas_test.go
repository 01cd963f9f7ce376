package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/test/fleet"
)

// None of these run beside other tests: they end managers.

func TestAKilledReplicaIsReplaced(t *testing.T) {
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	old := a.owner("eu")
	since := a.site("eu").cluster.Audit().End()
	if err := old.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	a.site("eu").delete("v1", "ConfigMap", "web")
	a.apply(webLayer, "$GREETING", "good morning")
	a.expectGreeting("good morning")
	t.Logf("served %s after the owner's end", time.Since(killed).Round(time.Millisecond))
	a.awaitConverged("web")
	var now *v1alpha1.MemberOwner
	a.eventually("the member's owner is another", func(g gomega.Gomega) {
		now = a.member(g, "eu").Status.Owner
		g.Expect(now.Replica).NotTo(gomega.Equal(old.Identity))
	})
	a.awaitEventOn("MemberCluster", "eu", "OwnerTakeover", fmt.Sprintf(
		"%s keeps the member from now on (shard %d, epoch %d), since %s", now.Replica, now.Shard, now.Epoch, old.Identity))
	a.now("the audit log tells who wrote, and in which epoch", func(g gomega.Gomega) {
		writes := a.site("eu").writes(g, since, a.site("eu").ours)
		g.Expect(writes).NotTo(gomega.BeEmpty())
		g.Expect(writes).To(gomega.HaveEach(gomega.ContainSubstring(fmt.Sprintf("(%s; epoch %d)", now.Replica, now.Epoch))))
	})
}

func TestAReplicaThatIsAskedToEndHandsOverAtOnce(t *testing.T) {
	const limit = 5 * time.Second // of the 15 s after which a Lease would run out
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	old := a.owner("eu")
	before := a.epoch("eu")
	asked := time.Now()
	if err := old.Terminate(shutdownTimeout); err != nil { // an exit code other than 0 is an error
		t.Fatal(err)
	}
	ended := time.Since(asked)
	if leader, err := leading(t.Context(), a.hub); err != nil || leader == old.Identity {
		t.Errorf("the leader's Lease was not released before the exit: it names %q (%v)", leader, err)
	}
	a.site("eu").delete("v1", "ConfigMap", "web")
	a.expectGreeting("hello")
	took := time.Since(asked)
	t.Logf("ended after %s, others served after %s", ended.Round(time.Millisecond), took.Round(time.Millisecond))
	if took > limit {
		t.Errorf("handing over took %s, want %s", took, limit)
	}
	a.eventually("the new owner says so, in a later epoch", func(g gomega.Gomega) {
		g.Expect(a.member(g, "eu").Status.Owner.Epoch).To(gomega.BeNumerically(">", before))
	})
}

// epoch is that of a member's owner.
func (a *arena) epoch(member string) (epoch int64) {
	a.now("the member has an owner", func(g gomega.Gomega) { epoch = a.member(g, member).Status.Owner.Epoch })
	return epoch
}

// An owner that lost the member without knowing it cannot say anything of it: the hub itself
// refuses.
func TestTheHubRefusesAnOlderEpoch(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	a.eventually("the binding tells its epoch", func(g gomega.Gomega) {
		binding := a.binding(g, "web", "eu")
		g.Expect(binding.Status.Epoch).To(gomega.Equal(a.member(g, "eu").Status.Owner.Epoch))
		before := binding.DeepCopy()
		binding.Status.Epoch--
		binding.Status.Message = "an old word"
		g.Expect(a.hub.Status().Patch(a.Context(), binding, client.MergeFrom(before))).To(gomega.MatchError(gomega.ContainSubstring("older epoch")))
		member := a.member(g, "eu")
		of := member.DeepCopy()
		member.Status.Owner.Epoch--
		g.Expect(a.hub.Status().Patch(a.Context(), member, client.MergeFrom(of))).To(gomega.MatchError(gomega.ContainSubstring("older epoch")))
	})
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
			g.Expect(hub.OwnerOf(a.member(g, s.name))).To(gomega.BeElementOf(first.Identity, second.Identity))
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
		binding.Status.Epoch = 0 // each owner has its own
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
