package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

func theFederation() *v1alpha1.Federation {
	return &v1alpha1.Federation{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.FederationName}}
}

// pauseAll presses the red button, and waits until that is in effect. The end of the test
// releases it.
func (a *arena) pauseAll() {
	a.Helper()
	a.patch(theFederation(), `{"spec":{"paused":true}}`)
	a.Cleanup(func() {
		ctx, cancel := afterTest()
		defer cancel()
		resume := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":false}}`))
		if err := a.hub.Patch(ctx, theFederation(), resume); err != nil {
			a.Error(err)
		}
	})
	a.eventually("the Federation says that it is paused", func(g gomega.Gomega) {
		f := theFederation()
		g.Expect(a.hub.Get(a.Context(), client.ObjectKeyFromObject(f), f)).To(gomega.Succeed())
		g.Expect(f.Status.Message).To(gomega.ContainSubstring("paused"))
	})
}

func (a *arena) resumeAll() {
	a.Helper()
	a.patch(theFederation(), `{"spec":{"paused":false}}`)
}

// Several times, since the end of a pause reaches the gate and the workers by two ways.
func TestPauseEndsForEveryMember(t *testing.T) {
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	for _, greeting := range []string{"one", "two", "three", "four"} {
		a.pauseAll()
		a.apply(webLayer, "$GREETING", greeting)
		a.eventually("both members wait", func(g gomega.Gomega) {
			g.Expect(a.layer(g, "web").LayerStatus().Members.Paused).To(gomega.BeEquivalentTo(2))
		})
		a.resumeAll()
		a.expectGreeting(greeting)
		a.awaitConverged("web")
	}
}

// A manager that has just started knows of the pause before it writes.
func TestManagerThatStartsDuringAPauseWritesNothing(t *testing.T) {
	a := newArena(t)
	restoreReplicas(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	stopAll(t)
	a.patch(theFederation(), `{"spec":{"paused":true}}`)
	a.apply(webLayer, "$GREETING", "good morning")
	since := a.site("eu").cluster.Audit().End()
	startReplica(t)
	a.pauseAll()
	a.eventually("both members wait", func(g gomega.Gomega) {
		g.Expect(a.layer(g, "web").LayerStatus().Members.Paused).To(gomega.BeEquivalentTo(2))
	})
	a.throughout(3*time.Second, "members get no writes", func(g gomega.Gomega) {
		g.Expect(a.site("eu").writes(g, since)).To(gomega.BeEmpty())
	})
	a.resumeAll()
	a.expectGreeting("good morning")
	a.awaitConverged("web")
}

// Not beside other tests: everything is paused.
func TestPausedFederationWritesToNoMember(t *testing.T) {
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: leaving}
spec:
  order: 200
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: leaving, namespace: $NS}, data: {a: b}}
`)
	a.awaitConverged("web", "leaving")

	a.pauseAll()

	since := map[*site]fleet.AuditOffset{}
	for _, s := range a.sites {
		since[s] = s.cluster.Audit().End()
	}
	a.apply(webLayer, "$GREETING", "good morning") // a change,
	a.site("eu").delete("v1", "ConfigMap", "web")  // a drift,
	a.removeLayer("leaving")                       // and a deletion wait.
	a.eventually("layers say that they wait for the pause", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(a.binding(g, "web", s.name).Status.State).To(gomega.Equal(v1alpha1.StatePaused))
		}
		status := a.layer(g, "web").LayerStatus()
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StatePaused))
		g.Expect(status.Members.Paused).To(gomega.BeEquivalentTo(2))
		g.Expect(condition(status.Conditions, v1alpha1.ConditionConverged).Status).To(gomega.Equal(metav1.ConditionFalse))
	})
	a.throughout(5*time.Second, "members get no writes", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.writes(g, since[s])).To(gomega.BeEmpty(), s.name)
			s.object(g, "v1", "ConfigMap", "leaving")
		}
	})

	a.resumeAll()
	a.expectGreeting("good morning")
	a.awaitConverged("web")
	a.eventually("the deleted layer is undone", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.lacks(g, "v1", "ConfigMap", "leaving")
		}
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("web"))
	})
}

func TestPausedMemberIsLeftAlone(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	eu := &v1alpha1.MemberCluster{ObjectMeta: a.onHub("eu")}
	a.patch(eu, `{"spec":{"paused":true}}`)
	a.expectPausedAlone("eu", "MemberPaused")

	a.patch(eu, `{"spec":{"paused":false}}`)
	a.expectGreeting("good morning")
	a.awaitConverged("web")
	a.eventually("the member is no longer paused", func(g gomega.Gomega) {
		g.Expect(condition(a.member(g, "eu").Status.Conditions, v1alpha1.ConditionPaused)).To(gomega.BeZero())
	})
}

// expectPausedAlone waits until a member says that it is paused and why, edits the layer,
// and makes sure that the other member has the edit and this one gets no writes.
func (a *arena) expectPausedAlone(member, reason string) {
	a.Helper()
	paused := a.site(member)
	a.eventually("member "+member+" says that it is paused", func(g gomega.Gomega) {
		c := condition(a.member(g, member).Status.Conditions, v1alpha1.ConditionPaused)
		g.Expect(c.Status).To(gomega.Equal(metav1.ConditionTrue))
		g.Expect(c.Reason).To(gomega.Equal(reason))
	})
	since := paused.cluster.Audit().End()
	a.apply(webLayer, "$GREETING", "good morning")
	for _, s := range a.sites {
		if s != paused {
			s.expectGreeting("good morning")
		}
	}
	a.eventually("the layer says where it waits", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", member).Status.State).To(gomega.Equal(v1alpha1.StatePaused))
		status := a.layer(g, "web").LayerStatus()
		g.Expect(status.Converged).To(gomega.Equal("1/2"))
		g.Expect(status.Members.Paused).To(gomega.BeEquivalentTo(1))
		g.Expect(status.Message).To(gomega.ContainSubstring(a.namespace + "/" + member))
	})
	a.throughout(3*time.Second, "the paused member gets no writes", func(g gomega.Gomega) {
		g.Expect(paused.writes(g, since, paused.ours)).To(gomega.BeEmpty())
		g.Expect(paused.data(g, "web")).To(gomega.HaveKeyWithValue("greeting", "hello"))
	})
}
