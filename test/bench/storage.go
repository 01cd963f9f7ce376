package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// storage: what the hub stores for every object on a member. The layer that the user wrote
// counts: what it takes to hold it is a matter of how the kind is made.
func (b *bench) storage(ctx context.Context) error {
	const (
		name = "storage"
		size = 100
	)
	say("what the hub stores")
	before, err := b.stored(ctx)
	if err != nil {
		return err
	}
	layer, err := layerOf(name, 400, settingsOf(name, size))
	if err != nil {
		return err
	}
	if err := b.put(ctx, layer); err != nil {
		return err
	}
	after, err := b.stored(ctx)
	if err != nil {
		return err
	}
	pairs := float64(size * len(b.bare))
	var all contents
	for _, kind := range slices.SortedFunc(maps.Keys(after), cmp.Compare) {
		more := contents{after[kind].objects - before[kind].objects, after[kind].bytes - before[kind].bytes}
		if more != (contents{}) {
			say("%d %s more, %.1f bytes per pair", more.objects, kind, float64(more.bytes)/pairs)
		}
		all.objects += more.objects
		all.bytes += more.bytes
	}
	figure("hub_bytes_per_pair", float64(all.bytes)/pairs, "B")
	figure("hub_objects_per_pair", float64(all.objects)/pairs, "objects")
	return b.take(ctx, name)
}

// contents are what the hub stores of a kind.
type contents struct{ objects, bytes int }

// stored is what the hub stores of all kinds that Syncline writes, by resource. Sizes are
// those of the values in etcd: JSON for kinds that are defined by CRDs, protobuf for those
// that are built in. The size of etcd's file would tell less: it holds the members' objects
// too, and old versions until they are compacted.
func (b *bench) stored(ctx context.Context) (map[string]contents, error) {
	c, err := kubernetes.NewForConfig(b.fleet.Hub().RESTConfig())
	if err != nil {
		return nil, err
	}
	served, err := c.Discovery().ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String())
	if err != nil {
		return nil, fmt.Errorf("kinds of the hub: %w", err)
	}
	all := map[string]contents{}
	for _, r := range served.APIResources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		if all[r.Name], err = b.storedOf(ctx, r.Kind); err != nil {
			return nil, fmt.Errorf("list %s: %w", r.Name, err)
		}
	}
	revisions, err := c.AppsV1().ControllerRevisions("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	secrets, err := c.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all["controllerrevisions"] = contents{len(revisions.Items), revisions.Size()}
	all["secrets"] = contents{len(secrets.Items), secrets.Size()}
	return all, nil
}

// storedOf is what is stored of one of Syncline's kinds.
func (b *bench) storedOf(ctx context.Context, kind string) (of contents, err error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
	if err := b.hub.List(ctx, &list, client.InNamespace(metav1.NamespaceAll)); err != nil {
		return of, err
	}
	for _, item := range list.Items {
		item.SetResourceVersion("") // etcd's own, and not in the value
		raw, err := json.Marshal(item.Object)
		if err != nil {
			return of, err
		}
		of.objects++
		of.bytes += len(raw)
	}
	return of, nil
}
