package layer

import (
	"cmp"
	"slices"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/source"
)

// Ref names a Layer or ClusterLayer.
type Ref struct {
	// Kind is v1alpha1.KindLayer or v1alpha1.KindClusterLayer.
	Kind string
	// Namespace of a Layer; empty for a ClusterLayer.
	Namespace string
	Name      string
}

// RefOf names the layer.
func RefOf(l v1alpha1.Layered) Ref {
	return Ref{Kind: l.LayerKind(), Namespace: l.GetNamespace(), Name: l.GetName()}
}

// String is "base" for a ClusterLayer and "fleet/web" for a Layer. No two layers share it.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Layer is one layer of a member's stack, in the revision that the member should have.
type Layer struct {
	Ref Ref
	// Revision names the content: two layers with the same Ref and Revision hold the same.
	// Without it, nothing is memoised.
	Revision string
	Content  source.Content
	// Ignore cedes fields of the objects whose home is this layer.
	Ignore []v1alpha1.IgnoreRule
}

// Stack is the layers of one member from bottom to top.
type Stack []Layer

// NewStack sorts layers into a stack: by order, then ClusterLayer before Layer, then by
// name. The order of the arguments does not matter.
func NewStack(layers ...Layer) Stack {
	stack := slices.Clone(layers)
	slices.SortFunc(stack, func(a, b Layer) int {
		return Compare(a.Content.Order, a.Ref, b.Content.Order, b.Ref)
	})
	return stack
}

// Compare is the order of layers in a stack, from bottom to top.
func Compare(orderA int32, a Ref, orderB int32, b Ref) int {
	return cmp.Or(
		cmp.Compare(orderA, orderB),
		// "ClusterLayer" sorts before "Layer".
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Namespace, b.Namespace),
	)
}
