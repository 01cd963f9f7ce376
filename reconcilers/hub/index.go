package hub

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// The indexes of the hub's cache.
const (
	indexBindingMember = "spec.member"
	indexBindingLayer  = "spec.layer"
	indexLayerSource   = "spec.manifestsFrom"
	indexMemberUID     = "status.uid"
	indexShard         = "shard"
)

// SetUpCache adds the indexes that this package's look-ups need, and has the cache watch from the
// beginning what controllers on every replica do: they run as soon as they are started, and a
// replica does not join the others before it can serve members. ShardOf is the shard of a
// member. Call it once, before the cache starts.
func SetUpCache(ctx context.Context, kept cache.Cache, shardOf func(types.NamespacedName) int) error {
	if err := indexCache(ctx, kept, shardOf); err != nil {
		return err
	}
	secrets := &metav1.PartialObjectMetadata{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	for _, watched := range []client.Object{secrets, &v1alpha1.Federation{}, &v1alpha1.StateAssertion{}} {
		if _, err := kept.GetInformer(ctx, watched, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watch %T: %w", watched, err)
		}
	}
	return nil
}

func indexCache(ctx context.Context, indexer client.FieldIndexer, shardOf func(types.NamespacedName) int) error {
	indexes := []struct {
		object client.Object
		field  string
		keys   client.IndexerFunc
	}{
		{&v1alpha1.LayerBinding{}, indexBindingMember, func(o client.Object) []string {
			return []string{o.(*v1alpha1.LayerBinding).Spec.Member}
		}},
		{&v1alpha1.LayerBinding{}, indexBindingLayer, func(o client.Object) []string {
			return []string{layerKey(o.(*v1alpha1.LayerBinding).Spec.Layer)}
		}},
		{&v1alpha1.MemberCluster{}, indexMemberUID, func(o client.Object) []string {
			return []string{string(o.(*v1alpha1.MemberCluster).Status.UID)}
		}},
		{&v1alpha1.MemberCluster{}, indexShard, func(o client.Object) []string {
			return []string{strconv.Itoa(shardOf(client.ObjectKeyFromObject(o)))}
		}},
		{&v1alpha1.LayerBinding{}, indexShard, func(o client.Object) []string {
			return []string{strconv.Itoa(shardOf(MemberOf(o.(*v1alpha1.LayerBinding))))}
		}},
		{&v1alpha1.Layer{}, indexLayerSource, sourceKeys},
		{&v1alpha1.ClusterLayer{}, indexLayerSource, sourceKeys},
	}
	for _, index := range indexes {
		if err := indexer.IndexField(ctx, index.object, index.field, index.keys); err != nil {
			return fmt.Errorf("index %s of %T: %w", index.field, index.object, err)
		}
	}
	return nil
}

func layerKey(ref v1alpha1.LayerReference) string {
	return ref.Kind + "/" + ref.Name
}

func sourceKeys(o client.Object) []string {
	var keys []string
	for _, from := range o.(v1alpha1.Layered).LayerSpec().ManifestsFrom {
		switch {
		case from.ConfigMap != nil:
			keys = append(keys, "ConfigMap/"+from.ConfigMap.Name)
		case from.Secret != nil:
			keys = append(keys, "Secret/"+from.Secret.Name)
		}
	}
	return keys
}

// BindingsOfMember are the bindings of one member.
func BindingsOfMember(ctx context.Context, c client.Reader, member types.NamespacedName) ([]v1alpha1.LayerBinding, error) {
	var list v1alpha1.LayerBindingList
	err := c.List(ctx, &list, client.InNamespace(member.Namespace), client.MatchingFields{indexBindingMember: member.Name})
	if err != nil {
		return nil, fmt.Errorf("list bindings of member %s: %w", member, err)
	}
	return list.Items, nil
}

// MemberOf is the member of a binding.
func MemberOf(binding *v1alpha1.LayerBinding) types.NamespacedName {
	return types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Member}
}

// MembersOfShard are the members of a shard: those that there are, and those that left something
// behind.
func MembersOfShard(ctx context.Context, c client.Reader, shard int) (sets.Set[types.NamespacedName], error) {
	selected := client.MatchingFields{indexShard: strconv.Itoa(shard)}
	var members v1alpha1.MemberClusterList
	if err := c.List(ctx, &members, selected, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list members of shard %d: %w", shard, err)
	}
	var bindings v1alpha1.LayerBindingList
	if err := c.List(ctx, &bindings, selected, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list bindings of shard %d: %w", shard, err)
	}
	keys := sets.New[types.NamespacedName]()
	for i := range members.Items {
		keys.Insert(client.ObjectKeyFromObject(&members.Items[i]))
	}
	for i := range bindings.Items {
		keys.Insert(MemberOf(&bindings.Items[i]))
	}
	return keys, nil
}

// MembersWithUID are the MemberClusters that are known to be one cluster.
func MembersWithUID(ctx context.Context, c client.Reader, uid types.UID) ([]v1alpha1.MemberCluster, error) {
	var list v1alpha1.MemberClusterList
	if err := c.List(ctx, &list, client.MatchingFields{indexMemberUID: string(uid)}); err != nil {
		return nil, fmt.Errorf("list members of one identity: %w", err)
	}
	return list.Items, nil
}

// BindingsOfLayer are the bindings of one layer: in its namespace, or anywhere for a
// ClusterLayer.
func BindingsOfLayer(ctx context.Context, c client.Reader, layer v1alpha1.Layered) ([]v1alpha1.LayerBinding, error) {
	var list v1alpha1.LayerBindingList
	err := c.List(ctx, &list, client.InNamespace(layer.GetNamespace()),
		client.MatchingFields{indexBindingLayer: layerKey(ReferenceTo(layer))})
	if err != nil {
		return nil, fmt.Errorf("list bindings of %s: %w", Describe(layer), err)
	}
	return list.Items, nil
}

// LayersReading are the layers whose manifestsFrom names the ConfigMap or Secret. A
// ClusterLayer reads from the manager's namespace.
func LayersReading(ctx context.Context, c client.Reader, kind string, source types.NamespacedName, systemNamespace string) ([]v1alpha1.Layered, error) {
	match := client.MatchingFields{indexLayerSource: kind + "/" + source.Name}
	var layers v1alpha1.LayerList
	if err := c.List(ctx, &layers, client.InNamespace(source.Namespace), match); err != nil {
		return nil, fmt.Errorf("list layers that read %s %s: %w", kind, source, err)
	}
	var found []v1alpha1.Layered
	for i := range layers.Items {
		found = append(found, &layers.Items[i])
	}
	if source.Namespace != systemNamespace {
		return found, nil
	}
	var clusterLayers v1alpha1.ClusterLayerList
	if err := c.List(ctx, &clusterLayers, match); err != nil {
		return nil, fmt.Errorf("list cluster layers that read %s %s: %w", kind, source, err)
	}
	for i := range clusterLayers.Items {
		found = append(found, &clusterLayers.Items[i])
	}
	return found, nil
}
