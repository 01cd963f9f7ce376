package layer

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

// Defines is the kind that a CustomResourceDefinition defines; zero for other objects.
func (o *Object) Defines() schema.GroupKind {
	if o.ID.Kind != "CustomResourceDefinition" || !object.Foundation(o.ID) {
		return schema.GroupKind{}
	}
	group, _, _ := unstructured.NestedString(o.Value, "spec", "group")
	kind, _, _ := unstructured.NestedString(o.Value, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// ForeignKinds are the kinds that are neither Kubernetes' own nor defined by the stack. Who
// knows their schemas from elsewhere folds again with those; without, their lists are whole.
func (f *Folded) ForeignKinds() []schema.GroupVersionKind {
	kinds := map[schema.GroupVersionKind]bool{}
	defined := map[schema.GroupKind]bool{}
	for i := range f.Objects {
		kinds[f.Objects[i].GVK] = true
		defined[f.Objects[i].Defines()] = true
	}
	maps.DeleteFunc(kinds, func(gvk schema.GroupVersionKind, _ bool) bool {
		_, builtin := Builtin().Type(gvk)
		return builtin || gvk.Version == "" || defined[gvk.GroupKind()]
	})
	return slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
}
