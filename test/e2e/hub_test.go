package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// person is the field manager of what tests write on the hub.
const person = client.FieldOwner("person")

// apply applies YAML to the hub, as kubectl apply --server-side would. $NS stands for the
// test's namespace, in which namespaced objects without one are put; further names and
// their replacements follow in pairs.
func (a *arena) apply(yaml string, replacements ...string) {
	a.Helper()
	if err := a.tryApply(a.Context(), yaml, replacements...); err != nil {
		a.Fatal(err)
	}
}

func (a *arena) tryApply(ctx context.Context, yaml string, replacements ...string) error {
	for _, u := range a.read(a.hub, yaml, replacements...) {
		if err := a.hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), person, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s %s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return nil
}

// read reads the objects of a YAML text for a cluster, and labels those that no namespace
// takes along.
func (a *arena) read(c client.Client, yaml string, replacements ...string) []*unstructured.Unstructured {
	a.Helper()
	text := strings.ReplaceAll(strings.NewReplacer(replacements...).Replace(yaml), "$NS", a.namespace)
	documents := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	var all []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		if err := documents.Decode(u); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			a.Fatalf("the test's YAML: %v\n%s", err, text)
		}
		if len(u.Object) == 0 {
			continue
		}
		namespaced, err := c.IsObjectNamespaced(u)
		if err != nil {
			a.Fatal(err)
		}
		switch {
		case !namespaced:
			labels := u.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[labelArena] = a.namespace
			u.SetLabels(labels)
		case u.GetNamespace() == "":
			u.SetNamespace(a.namespace)
		}
		all = append(all, u)
	}
}

// remove deletes an object of the test's namespace on the hub, or a cluster-scoped one.
func (a *arena) remove(object client.Object) {
	a.Helper()
	if err := a.hub.Delete(a.Context(), object); err != nil {
		a.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// removeLayer deletes a layer by the name that layer takes.
func (a *arena) removeLayer(name string) {
	a.Helper()
	a.remove(a.emptyLayer(name))
}

// emptyLayer is the Layer of a name, or the ClusterLayer of "ClusterLayer/<name>", to be
// read or deleted.
func (a *arena) emptyLayer(name string) v1alpha1.Layered {
	if name, is := strings.CutPrefix(name, v1alpha1.KindClusterLayer+"/"); is {
		return &v1alpha1.ClusterLayer{ObjectMeta: metav1.ObjectMeta{Name: strings.ReplaceAll(name, "$NS", a.namespace)}}
	}
	return &v1alpha1.Layer{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name}}
}

// layer reads a layer: "web", or "ClusterLayer/base".
func (a *arena) layer(g gomega.Gomega, name string) v1alpha1.Layered {
	l := a.emptyLayer(name)
	g.ExpectWithOffset(1, a.hub.Get(a.Context(), client.ObjectKeyFromObject(l), l)).To(gomega.Succeed(), "layer %s", name)
	return l
}

// awaitConverged waits until layers have converged on all members of the test.
func (a *arena) awaitConverged(layers ...string) {
	a.Helper()
	for _, name := range layers {
		a.awaitConvergedOn(name, len(a.sites))
	}
}

// awaitConvergedOn waits until a layer has converged on so many members, and these are all
// that it selects.
func (a *arena) awaitConvergedOn(name string, members int) {
	a.Helper()
	a.eventually(fmt.Sprintf("layer %s has converged on %d members", name, members), func(g gomega.Gomega) {
		l := a.layer(g, name)
		g.Expect(isConverged(l)).To(gomega.BeTrue(), "state %s: %s", l.LayerStatus().State, l.LayerStatus().Message)
		g.Expect(l.LayerStatus().Converged).To(gomega.Equal(fmt.Sprintf("%d/%d", members, members)))
	})
}

// isConverged is what kubectl wait --for=condition=Converged waits for.
func isConverged(l v1alpha1.Layered) bool {
	c := meta.FindStatusCondition(l.LayerStatus().Conditions, v1alpha1.ConditionConverged)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration >= l.GetGeneration()
}

// binding is what the hub says of a layer on a member.
func (a *arena) binding(g gomega.Gomega, layer, member string) *v1alpha1.LayerBinding {
	l := a.emptyLayer(layer)
	want := v1alpha1.LayerBindingSpec{Layer: v1alpha1.LayerReference{Kind: l.LayerKind(), Name: l.GetName()}, Member: member}
	var list v1alpha1.LayerBindingList
	g.ExpectWithOffset(1, a.hub.List(a.Context(), &list, client.InNamespace(a.namespace))).To(gomega.Succeed())
	for i := range list.Items {
		if list.Items[i].Spec == want {
			return &list.Items[i]
		}
	}
	g.ExpectWithOffset(1, fmt.Sprintf("%v", want)).To(gomega.BeEmpty(), "there is no such binding")
	return nil
}

// member reads a MemberCluster.
func (a *arena) member(g gomega.Gomega, name string) *v1alpha1.MemberCluster {
	m := &v1alpha1.MemberCluster{}
	key := client.ObjectKey{Namespace: a.namespace, Name: name}
	g.ExpectWithOffset(1, a.hub.Get(a.Context(), key, m)).To(gomega.Succeed(), "member %s", name)
	return m
}

// awaitReady waits until members are Ready.
func (a *arena) awaitReady(members ...string) {
	a.Helper()
	for _, name := range members {
		a.eventually("member "+name+" is Ready", func(g gomega.Gomega) {
			ready := condition(a.member(g, name).Status.Conditions, v1alpha1.ConditionReady)
			g.Expect(ready.Status).To(gomega.Equal(metav1.ConditionTrue), "%s: %s", ready.Reason, ready.Message)
		})
	}
}

// condition is the condition of a type; the zero one where there is none.
func condition(conditions []metav1.Condition, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// patch merges JSON into an object of the hub, as kubectl patch would.
func (a *arena) patch(object client.Object, json string) {
	a.Helper()
	if err := a.hub.Patch(a.Context(), object, client.RawPatch(types.MergePatchType, []byte(json))); err != nil {
		a.Fatalf("patch %T %s: %v", object, object.GetName(), err)
	}
}

// onHub is the identity of an object of the test's namespace.
func (a *arena) onHub(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: a.namespace, Name: name}
}

// namesOf are the names of what a list holds.
func namesOf(ctx context.Context, c client.Client, list client.ObjectList, which ...client.ListOption) ([]string, error) {
	if err := c.List(ctx, list, which...); err != nil {
		return nil, err
	}
	var names []string
	err := meta.EachListItem(list, func(o runtimeObject) error {
		names = append(names, o.(client.Object).GetName())
		return nil
	})
	return names, err
}
