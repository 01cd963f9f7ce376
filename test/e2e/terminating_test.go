package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// A namespace that is being deleted may take its time, held by somebody's finalizer. It is
// waited out, and filled again.
func TestTerminatingNamespaceIsWaitedOutAndRefilled(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu, shop := a.site("eu"), a.namespace+"-shop"
	a.apply(leaving, "$POLICY", "sync: {pruneCascading: true}", "$MORE", `- {apiVersion: v1, kind: Namespace, metadata: {name: $NS-shop}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: goods, namespace: $NS-shop}, data: {a: b}}`)
	a.awaitConverged("app")
	before := eu.uid("v1", "Namespace", shop)

	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "held", Finalizers: []string{hold}}}
	a.create(eu.client, held)
	eu.delete("v1", "Namespace", shop)
	a.eventually("the namespace is waited for", func(g gomega.Gomega) {
		g.Expect(eu.object(g, "v1", "Namespace", shop).GetDeletionTimestamp()).NotTo(gomega.BeNil())
		status := a.binding(g, "app", "eu").Status
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateProgressing))
		g.Expect(status.Message).To(gomega.ContainSubstring("Namespace " + shop))
		g.Expect(status.Ready).To(gomega.Equal("1/3"))
	})
	// What is beside it goes on meanwhile.
	eu.delete("v1", "ConfigMap", "web")
	eu.expectGreeting("hello")

	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	a.now("let the object go", func(g gomega.Gomega) {
		g.Expect(eu.client.Patch(a.Context(), held, release)).To(gomega.Succeed())
	})
	a.eventually("the namespace is another, with all that belongs there", func(g gomega.Gomega) {
		g.Expect(eu.object(g, "v1", "Namespace", shop).GetUID()).NotTo(gomega.Equal(before))
		g.Expect(eu.client.Get(a.Context(), client.ObjectKey{Namespace: shop, Name: "goods"}, &corev1.ConfigMap{})).To(gomega.Succeed())
	})
	a.awaitConverged("app")
}
