package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/syncline-dev/syncline/test/fleet"
)

// quiet is how long the manager is looked at to see it at rest.
const quiet = 5 * time.Second

// memory: what the manager keeps of every object that it manages on a member, its part in
// what members share included, and of one that it does not manage.
func (b *bench) memory(ctx context.Context) error {
	objects := b.layers * crowdSize
	say("memory for %d objects on each member", objects)
	before, err := b.footprint(ctx, quiet, footprint{})
	if err != nil {
		return err
	}
	if err := b.crowd(ctx, b.layers); err != nil {
		return err
	}
	managed, err := b.footprint(ctx, quiet, footprint{})
	if err != nil {
		return err
	}
	figure("heap_per_pair", (managed.heap-before.heap)/float64(objects*len(b.bare)), "B")

	say("memory for %d objects that are not ours", b.foreign)
	if err := makeForeign(ctx, b.last(), b.foreign); err != nil {
		return err
	}
	all, err := b.footprint(ctx, quiet, footprint{})
	if err != nil {
		return err
	}
	figure("heap_per_foreign_object", (all.heap-managed.heap)/float64(b.foreign), "B")
	return nil
}

// crowdSize is how many objects a layer of many has. One layer of them all would measure
// something else: what a watch of the hub takes to hold the largest object it has met.
const crowdSize = 100

// crowdOf is the name of a layer of many objects.
func crowdOf(i int) string { return fmt.Sprintf("crowd-%d", i) }

// crowd sees to it that there are n layers of many objects, which stay, and that they have
// converged.
func (b *bench) crowd(ctx context.Context, n int) error {
	for i := range n {
		layer, err := layerOf(crowdOf(i), int32(1000+i), settingsOf(crowdOf(i), crowdSize))
		if err != nil {
			return err
		}
		if err := b.hub.Create(ctx, layer); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make layer %s: %w", layer.Name, err)
		}
	}
	return b.crowdConverged(ctx, n)
}

func (b *bench) crowdConverged(ctx context.Context, n int) error {
	for i := range n {
		if err := b.converged(ctx, crowdOf(i)); err != nil {
			return err
		}
	}
	return nil
}

// makeForeign makes ConfigMaps on a member, where they stay: whoever manages the member
// should not notice.
func makeForeign(ctx context.Context, m *fleet.Cluster, n int) error {
	const (
		namespace = "foreign"
		atATime   = 16
	)
	c, err := kubernetes.NewForConfig(m.RESTConfig())
	if err != nil {
		return err
	}
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := c.CoreV1().Namespaces().Create(ctx, home, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make namespace on %s: %w", m.Name(), err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for i := range n {
		group.Go(func() error {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("foreign-%d", i)}, Data: map[string]string{"key": "value"}}
			_, err := c.CoreV1().ConfigMaps(namespace).Create(ctx, o, metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}
