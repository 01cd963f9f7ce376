package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clerk is a user of the member who may do everything with ConfigMaps, and nothing else
// but say which cluster it is.
const clerk = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: ["*"]}
- {apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NS}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: $NS}]
`

// hire gives the rights of a clerk to the user called as the test's namespace.
func (s *site) hire() { s.apply("administrator", clerk) }

// dismiss takes them away.
func (s *site) dismiss() {
	ctx, cancel := afterTest()
	defer cancel()
	for _, o := range []client.Object{&rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRole{}} {
		s.arena.discard(ctx, s.client, o, client.MatchingLabels{labelArena: s.arena.namespace})
	}
}

// clerked is an arena whose member "eu" is registered as a clerk.
func clerked(t *testing.T) *arena {
	t.Helper()
	var eu *site
	t.Cleanup(func() { eu.dismiss() }) // after the arena's clean-up, which needs the rights
	a := emptyArena(t, shared, nameFor(t))
	cluster := shared.Member("eu")
	kubeconfig, err := cluster.KubeconfigFor(a.namespace)
	if err != nil {
		t.Fatal(err)
	}
	eu = &site{arena: a, name: "eu", cluster: cluster, client: clientOf(t, cluster)}
	eu.hire()
	a.registerWith("eu", cluster, kubeconfig)
	a.awaitReady("eu")
	return a
}

func TestForbiddenKindsAreNamedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	a := clerked(t)
	eu := a.site("eu")
	const service = `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: $NS}, spec: {ports: [{port: 80}]}}`
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", service)
	eu.expectGreeting("hello")
	a.awaitProblem("web", "eu", complaint{"Forbidden", []string{"Service " + a.namespace + "/web", `"services"`, a.namespace}})
	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", service)
	eu.expectGreeting("good morning")
	a.eventually("all but the forbidden kind is in order", func(g gomega.Gomega) {
		status := a.binding(g, "web", "eu").Status
		g.Expect(status.Ready).To(gomega.Equal("1/2"))
		g.Expect(status.Problems).To(gomega.HaveLen(1))
	})

	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", other)
	a.awaitConverged("web")
}

func TestF48RightsTakenAwayDeleteNothing(t *testing.T) {
	t.Parallel()
	a := clerked(t)
	eu := a.site("eu")
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "other")

	since := eu.cluster.Audit().End()
	eu.dismiss()
	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", other)
	a.awaitProblem("web", "eu", complaint{"Forbidden", []string{"ConfigMap " + a.namespace + "/web", `"configmaps"`}})
	a.removeLayer("web")
	a.eventually("the layer says what holds it", func(g gomega.Gomega) {
		complaint{"Forbidden", []string{`"configmaps"`}}.expectOn(g, a.binding(g, "web", "eu"), "ConfigMap "+a.namespace+"/other")
	})
	a.now("nothing is gone", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "web")).To(gomega.HaveKeyWithValue("greeting", "hello"))
		g.Expect(eu.deletes(g, since)).To(gomega.BeEmpty())
	})
	a.expectKept(kept, "v1", "ConfigMap", "other")

	eu.hire()
	a.patience = 2 * time.Minute // the member does not tell that rights were given back
	a.awaitNoLayer()
	a.now("with its rights the layer was undone", func(g gomega.Gomega) { g.Expect(eu.deletes(g, since)).To(gomega.HaveLen(2)) })
}
