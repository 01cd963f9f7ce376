package member

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
)

func bindingWith(name string, entries ...v1alpha1.InventoryEntry) *v1alpha1.LayerBinding {
	return &v1alpha1.LayerBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name},
		Spec: v1alpha1.LayerBindingSpec{
			Layer: v1alpha1.LayerReference{Kind: v1alpha1.KindLayer, Name: name}, Member: "eu-1",
		},
		Status: v1alpha1.LayerBindingStatus{Inventory: entries},
	}
}

func join(t *testing.T, member types.UID, bindings ...*v1alpha1.LayerBinding) inventory {
	t.Helper()
	lists, err := listsOf(bindings...)
	if err != nil {
		t.Fatal(err)
	}
	return lists.join(bindings, member)
}

func TestInventoryJoinsHandOvers(t *testing.T) {
	a := configMap("a")
	declared := v1alpha1.InventoryEntry{ID: a.Key(), Version: "v1"}
	for _, order := range [][]*v1alpha1.LayerBinding{
		{bindingWith("old", listed(a, "d1")), bindingWith("new", declared)},
		{bindingWith("new", declared), bindingWith("old", listed(a, "d1"))},
	} {
		joined := join(t, "", order...)
		if diff := cmp.Diff(listed(a, "d1"), joined[a].entry); diff != "" {
			t.Errorf("the entry that knows the object must win: %s", diff)
		}
	}
}

func TestInventoryNeverDropsWhatItCannotRead(t *testing.T) {
	damaged := bindingWith("web")
	damaged.Status.InventoryData = []byte("what is this")
	for _, binding := range []*v1alpha1.LayerBinding{
		damaged, bindingWith("web", v1alpha1.InventoryEntry{ID: "ConfigMap/a"}),
	} {
		if _, err := listsOf(binding); err == nil || !strings.Contains(err.Error(), "fleet/web") {
			t.Errorf("got %v, want an error that names the binding", err)
		}
	}
}

func TestAnotherClusterStartsAfresh(t *testing.T) {
	a := configMap("a")
	binding := bindingWith("web", listed(a, "d1"))
	binding.Status.MemberUID = "cluster-1"
	for member, want := range map[types.UID]v1alpha1.InventoryEntry{
		"cluster-1": listed(a, "d1"),
		"cluster-2": {ID: a.Key(), Version: "v1"},
		"":          listed(a, "d1"), // not seen yet
	} {
		joined := join(t, member, binding)
		if diff := cmp.Diff(want, joined[a].entry); diff != "" {
			t.Errorf("on %q: %s", member, diff)
		}
	}
}

// F13: names as long as the API allows, and names that would meet without a hash.
func TestF13BindingNamesNeverCollide(t *testing.T) {
	long := strings.Repeat("x", 253)
	seen := map[string]string{}
	for _, pair := range []struct{ kind, layer, member string }{
		{v1alpha1.KindLayer, "c", "a-b"},
		{v1alpha1.KindLayer, "b-c", "a"},
		{v1alpha1.KindClusterLayer, "b-c", "a"},
		{v1alpha1.KindLayer, long, "a"},
		{v1alpha1.KindLayer, long[:252] + "y", "a"},
		{v1alpha1.KindLayer, long, long},
		{v1alpha1.KindLayer, "a", long},
	} {
		name := bindingName(v1alpha1.LayerReference{Kind: pair.kind, Name: pair.layer}, pair.member)
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Errorf("%q: %v", name, problems)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%v and %s share the name %s", pair, other, name)
		}
		seen[name] = pair.layer
		if problems := validation.IsValidLabelValue(labelValue(pair.member)); len(problems) > 0 {
			t.Errorf("label for %q: %v", pair.member, problems)
		}
	}
}

func TestMarkingLeavesTheFoldAlone(t *testing.T) {
	value := map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "web"}},
		"data":     map[string]any{"k": "v"},
	}
	w := wanted{Object: &layer.Object{Value: value, Home: home}}
	sent := marked(w, "hub-uid")
	if got := sent.GetLabels(); got[v1alpha1.LabelHub] != "hub-uid" || got["app"] != "web" {
		t.Errorf("labels: %v", got)
	}
	if got := sent.GetAnnotations()[v1alpha1.AnnotationLayer]; got != "fleet/web" {
		t.Errorf("layer annotation: %q", got)
	}
	untouched := map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "web"}},
		"data":     map[string]any{"k": "v"},
	}
	if diff := cmp.Diff(untouched, value); diff != "" {
		t.Errorf("members share the fold: %s", diff)
	}
}
