package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// placedBy is webLayer for the members with a label.
func placedBy(label string) []string {
	return []string{"$GREETING", "hello", "clusterSelector: {}", "clusterSelector: {matchLabels: {" + label + "}}"}
}

func TestF50SelectorMovesFromOneMemberToAnother(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	eu, us := a.site("eu"), a.site("us")
	a.apply(webLayer, placedBy("region: eu")...)
	a.awaitConvergedOn("web", 1)
	eu.expectGreeting("hello")

	a.apply(webLayer, placedBy("region: us")...)
	us.expectGreeting("hello")
	a.eventually("the first member is clean, and has no binding", func(g gomega.Gomega) {
		eu.lacks(g, "v1", "ConfigMap", "web")
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.HaveLen(1))
	})
	a.awaitConvergedOn("web", 1)
}

func TestF50SelectorMovesAfterTheCredentialsAreGone(t *testing.T) {
	t.Parallel()
	a := emptyArena(t, shared, nameFor(t))
	first := a.registerSecret("first", shared.Member("eu"), map[string]string{"turn": "first"})
	second := a.registerSecret("second", shared.Member("us"), map[string]string{"turn": "second"})
	a.awaitReady("first", "second")
	a.apply(webLayer, placedBy("turn: first")...)
	a.awaitConvergedOn("web", 1)
	uid := first.uid("v1", "ConfigMap", "web")

	a.remove(&corev1.Secret{ObjectMeta: a.onHub("first-kubeconfig")})
	a.eventually("the first member has left, and nothing waits for it", func(g gomega.Gomega) {
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.MemberClusterList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("second"))
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty())
	})
	a.apply(webLayer, placedBy("turn: second")...)
	second.expectGreeting("hello")
	a.awaitConvergedOn("web", 1)
	a.awaitEventOn(v1alpha1.KindLayer, "web", "Orphaned", a.namespace+"/first", "ConfigMap "+a.namespace+"/web")
	if now := first.uid("v1", "ConfigMap", "web"); now != uid {
		t.Error("the first member's object did not stay as it was")
	}
	a.removeLayer("web")
	a.awaitNoLayer()
}
