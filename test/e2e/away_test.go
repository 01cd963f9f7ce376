package e2e

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Not beside other tests: it measures.
func TestFrozenMemberDelaysNoOther(t *testing.T) {
	const limit = 2 * time.Second
	a := newArena(t, "eu", "us", "lone")
	a.interval = 20 * time.Millisecond
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	lone := a.site("lone")
	if err := lone.cluster.Freeze(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lone.cluster.Thaw(); err != nil {
			t.Error(err)
		}
	})
	frozen := time.Now()

	// From the first moment on, and until long after the member is known to be away.
	var took []time.Duration
	unknown := false
	for n := 0; !unknown || len(took) < 9; n++ {
		greeting := strconv.Itoa(n)
		begin := time.Now()
		a.apply(webLayer, "$GREETING", strconv.Quote(greeting))
		for _, name := range []string{"eu", "us"} {
			a.site(name).expectGreeting(greeting)
		}
		took = append(took, time.Since(begin))
		a.now("the member is looked at", func(g gomega.Gomega) {
			unknown = a.binding(g, "web", "lone").Status.State == v1alpha1.StateUnknown
		})
		if since := time.Since(frozen); since > patience {
			t.Fatalf("the member is not Unknown %s after it froze\n%s", since, a.story())
		}
		time.Sleep(time.Second)
	}
	t.Logf("Unknown %s after it froze; others served within %v", time.Since(frozen).Round(time.Second), took)
	slices.Sort(took)
	if slow := took[len(took)*9/10-1]; slow > limit {
		t.Errorf("others were served within %v, want %s", took, limit)
	}

	a.eventually("everything says Unknown, and since when", func(g gomega.Gomega) {
		status := a.member(g, "lone").Status
		for _, kind := range []string{v1alpha1.ConditionReachable, v1alpha1.ConditionReady} {
			g.Expect(condition(status.Conditions, kind).Status).NotTo(gomega.Equal(metav1.ConditionTrue), kind)
		}
		g.Expect(status.LastSeen).NotTo(gomega.BeNil())
		g.Expect(status.LastSeen.Time).To(gomega.BeTemporally("~", frozen, 10*time.Second))
		binding := a.binding(g, "web", "lone").Status
		g.Expect(binding.Message).To(gomega.ContainSubstring("last seen"))
		g.Expect(condition(binding.Conditions, v1alpha1.ConditionConverged).Status).To(gomega.Equal(metav1.ConditionUnknown))
		layer := a.layer(g, "web").LayerStatus()
		g.Expect(layer.State).To(gomega.Equal(v1alpha1.StateUnknown))
		g.Expect(layer.Converged).To(gomega.Equal("2/3"))
		g.Expect(layer.Members.Unknown).To(gomega.BeEquivalentTo(1))
	})

	if err := lone.cluster.Thaw(); err != nil {
		t.Fatal(err)
	}
	a.awaitReady("lone")
	a.awaitConverged("web")
	a.now("the member has what it missed", func(g gomega.Gomega) {
		g.Expect(lone.data(g, "web")).To(gomega.Equal(a.site("eu").data(g, "web")))
		g.Expect(a.member(g, "lone").Status.LastSeen).To(gomega.BeNil())
	})
}

func TestMemberMadeAnewUnderItsNameIsFilledAgain(t *testing.T) {
	t.Parallel()
	a := newArena(t, "lone")
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(deploymentLayer)
	a.awaitConverged("web", "app")
	lone := a.site("lone")
	var before v1alpha1.MemberClusterStatus
	a.now("remember who it is", func(g gomega.Gomega) { before = a.member(g, "lone").Status })

	if err := lone.cluster.Recreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	lone.client = clientOf(t, lone.cluster)
	lone.makeNamespace()
	if err := a.fleet.RegisterIn(t.Context(), lone.cluster, a.namespace); err != nil {
		t.Fatal(err)
	}
	a.eventually("it is known as another cluster", func(g gomega.Gomega) {
		g.Expect(a.member(g, "lone").Status.UID).NotTo(gomega.Equal(before.UID))
	})
	lone.expectGreeting("hello")
	a.awaitConverged("web", "app")
	a.now("the inventory names the new objects", func(g gomega.Gomega) {
		inventory := a.binding(g, "web", "lone").Status.Inventory
		g.Expect(inventory).To(gomega.HaveLen(1))
		g.Expect(inventory[0].UID).To(gomega.Equal(lone.uid("v1", "ConfigMap", "web")))
	})
}
