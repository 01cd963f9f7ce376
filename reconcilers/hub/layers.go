package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/rollout"
)

// LayersWithin are the layers that reach a namespace's members: the Layers in it and every
// ClusterLayer. With namespace "" they are all layers.
func LayersWithin(ctx context.Context, c client.Reader, namespace string, options ...client.ListOption) ([]v1alpha1.Layered, error) {
	var clusterLayers v1alpha1.ClusterLayerList
	if err := c.List(ctx, &clusterLayers, options...); err != nil {
		return nil, fmt.Errorf("list cluster layers: %w", err)
	}
	var layers v1alpha1.LayerList
	if err := c.List(ctx, &layers, append(slices.Clone(options), client.InNamespace(namespace))...); err != nil {
		return nil, fmt.Errorf("list layers: %w", err)
	}
	all := make([]v1alpha1.Layered, 0, len(clusterLayers.Items)+len(layers.Items))
	for i := range clusterLayers.Items {
		all = append(all, &clusterLayers.Items[i])
	}
	for i := range layers.Items {
		all = append(all, &layers.Items[i])
	}
	return all, nil
}

// Get reads the layer that a reference from a namespace names.
func Get(ctx context.Context, c client.Reader, ref v1alpha1.LayerReference, namespace string) (v1alpha1.Layered, error) {
	layer := New(ref.Kind)
	key := types.NamespacedName{Name: ref.Name}
	if ref.Kind == v1alpha1.KindLayer {
		key.Namespace = namespace
	}
	return layer, c.Get(ctx, key, layer)
}

// Selected are the members that a layer selects; none for a selector that cannot be read,
// which placement reports.
func Selected(ctx context.Context, c client.Reader, layer v1alpha1.Layered) ([]*v1alpha1.MemberCluster, error) {
	var members v1alpha1.MemberClusterList
	if err := c.List(ctx, &members, client.InNamespace(layer.GetNamespace())); err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	var selected []*v1alpha1.MemberCluster
	for i := range members.Items {
		if ok, err := rollout.Selects(layer, &members.Items[i]); err == nil && ok {
			selected = append(selected, &members.Items[i])
		}
	}
	return selected, nil
}

// New is an empty layer of a kind.
func New(kind string) v1alpha1.Layered {
	if kind == v1alpha1.KindClusterLayer {
		return &v1alpha1.ClusterLayer{}
	}
	return &v1alpha1.Layer{}
}

// ReferenceTo is how a binding names a layer.
func ReferenceTo(layer v1alpha1.Layered) v1alpha1.LayerReference {
	return v1alpha1.LayerReference{Kind: layer.LayerKind(), Name: layer.GetName()}
}

// Describe names a layer for people: "Layer fleet/web", "ClusterLayer base".
func Describe(layer v1alpha1.Layered) string {
	if layer.GetNamespace() == "" {
		return layer.LayerKind() + " " + layer.GetName()
	}
	return layer.LayerKind() + " " + layer.GetNamespace() + "/" + layer.GetName()
}

// LayerID identifies a layer in a label, whatever the length of its name. The namespace is
// not part of it: a Layer's objects stand in its own.
func LayerID(layer v1alpha1.Layered) string {
	return ReferenceID(ReferenceTo(layer))
}

// ReferenceID is LayerID by reference.
func ReferenceID(ref v1alpha1.LayerReference) string {
	sum := sha256.Sum256([]byte(layerKey(ref)))
	return hex.EncodeToString(sum[:8])
}
