package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// leaving is a layer of which something is to stay on the member.
const leaving = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  $POLICY
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: hello}}
  $MORE
`

// expectNotOurs checks that an object is on the member, the one that it was and without
// our marks.
func (s *site) expectNotOurs(g gomega.Gomega, apiVersion, kind, name string) {
	u := s.object(g, apiVersion, kind, name)
	g.ExpectWithOffset(1, u.GetDeletionTimestamp()).To(gomega.BeNil())
	g.ExpectWithOffset(1, u.GetLabels()).NotTo(gomega.HaveKey(v1alpha1.LabelHub))
	g.ExpectWithOffset(1, u.GetAnnotations()).NotTo(gomega.HaveKey(v1alpha1.AnnotationLayer))
}

func (a *arena) awaitNoLayer() {
	a.Helper()
	a.eventually("the layer is released", func(g gomega.Gomega) {
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty())
	})
}

func TestWithoutPruningObjectsStayAndAreNoLongerOurs(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(leaving, "$POLICY", "sync: {prune: false}", "$MORE", "- "+other)
	a.awaitConverged("app")

	a.apply(leaving, "$POLICY", "sync: {prune: false}", "$MORE", "")
	a.eventually("the object stays without our marks, and nobody answers for it", func(g gomega.Gomega) {
		eu.expectNotOurs(g, "v1", "ConfigMap", "other")
		g.Expect(eu.data(g, "other")).To(gomega.Equal(map[string]string{"a": "b"}))
		g.Expect(a.binding(g, "app", "eu").Status.Inventory).To(gomega.HaveLen(1))
	})
	a.awaitConverged("app")
	a.awaitEvent("app", "eu", "LeftBehind", "ConfigMap "+a.namespace+"/other")

	// It is about edits of the layer, not about its end.
	a.removeLayer("app")
	a.awaitNoLayer()
	a.now("what the layer still held is gone", func(g gomega.Gomega) {
		eu.lacks(g, "v1", "ConfigMap", "web")
		eu.expectNotOurs(g, "v1", "ConfigMap", "other")
	})
}

func TestOrphaningLayerLeavesItsObjects(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(leaving, "$POLICY", "deletionPolicy: Orphan", "$MORE", "- "+other)
	a.awaitConverged("app")
	kept := a.uids("v1", "ConfigMap", "web")

	// An edit prunes all the same.
	a.apply(leaving, "$POLICY", "deletionPolicy: Orphan", "$MORE", "")
	a.awaitConverged("app")
	a.removeLayer("app")
	a.awaitNoLayer()
	a.now("what the layer held last is there, and not ours", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.expectNotOurs(g, "v1", "ConfigMap", "web")
			s.lacks(g, "v1", "ConfigMap", "other")
		}
	})
	a.expectKept(kept, "v1", "ConfigMap", "web")
	for _, s := range a.sites {
		a.awaitEvent("app", s.name, "LeftBehind", "ConfigMap "+a.namespace+"/web")
	}
}

// What takes others along goes only where the layer says so. What stands on it goes.
func TestNamespacesDefinitionsAndClaimsAreLeftBehind(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	const claim = `
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data, namespace: $NS}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
	shop := a.namespace + "-shop"
	cascading := []string{"Namespace " + shop, "CustomResourceDefinition gadgets." + a.namespace + ".example.com", "PersistentVolumeClaim " + a.namespace + "/data"}
	a.apply(leaving+claim+"  - "+indented(replaced(gadgets, "\napiVersion", "apiVersion"), "    "), "$POLICY", "", "$MORE",
		"- {apiVersion: v1, kind: Namespace, metadata: {name: $NS-shop, labels: {e2e: $NS}}}")
	// A claim without a provisioner is never bound: the layer does not converge.
	a.eventually("all of it is on the member", func(g gomega.Gomega) {
		eu.object(g, "v1", "PersistentVolumeClaim", "data")
		g.Expect(a.binding(g, "app", "eu").Status.Ready).To(gomega.Equal("3/4"))
	})

	a.removeLayer("app")
	a.awaitNoLayer()
	a.now("the rest is gone", func(g gomega.Gomega) {
		eu.lacks(g, "v1", "ConfigMap", "web")
		eu.expectNotOurs(g, "v1", "Namespace", shop)
		eu.expectNotOurs(g, "v1", "PersistentVolumeClaim", "data")
		eu.expectNotOurs(g, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets."+a.namespace+".example.com")
	})
	for _, left := range cascading {
		a.awaitEvent("app", "eu", "LeftBehind", left)
	}
	eu.delete("v1", "Namespace", shop)
}
