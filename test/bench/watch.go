package main

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/syncline-dev/syncline/test/fleet"
)

// stampField is the annotation that every change sets anew.
const stampField = "bench.syncline.dev/stamp"

var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "services"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
}

// place is one object on one member.
type place struct {
	member, resource, namespace, name string
}

// watches see everything that is measured, ours and the bare loop's alike.
type watches struct {
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	locked struct {
		stamps  map[place]string // "" for an object that is not there
		waiting []*waiter
		deleted func(place)
	}
}

// waiter waits until a predicate holds for all places.
type waiter struct {
	left map[place]bool
	met  func(stamp string) bool
	done chan struct{}
}

func watchAll(ctx context.Context, members []*fleet.Cluster, namespaces ...string) (*watches, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watches{cancel: cancel}
	w.locked.stamps = map[place]string{}
	for _, m := range members {
		c, err := dynamic.NewForConfig(m.RESTConfig())
		if err != nil {
			w.stop()
			return nil, err
		}
		for _, namespace := range namespaces {
			for _, resource := range resources {
				stream, err := c.Resource(resource).Namespace(namespace).Watch(ctx, metav1.ListOptions{})
				if err != nil {
					w.stop()
					return nil, fmt.Errorf("watch %s on %s: %w", resource.Resource, m.Name(), err)
				}
				w.running.Go(func() { w.follow(stream, m.Name(), resource.Resource) })
			}
		}
	}
	return w, nil
}

func (w *watches) stop() {
	w.cancel()
	w.running.Wait()
}

func (w *watches) follow(stream watch.Interface, member, resource string) {
	defer stream.Stop()
	for event := range stream.ResultChan() {
		o, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		stamp := o.GetAnnotations()[stampField]
		if event.Type == watch.Deleted {
			stamp = ""
		}
		w.see(place{member, resource, o.GetNamespace(), o.GetName()}, stamp, event.Type == watch.Deleted)
	}
}

func (w *watches) see(at place, stamp string, deleted bool) {
	w.mu.Lock()
	w.locked.stamps[at] = stamp
	onDelete := w.locked.deleted
	for _, waiting := range w.locked.waiting {
		if waiting.left[at] && waiting.met(stamp) {
			delete(waiting.left, at)
			if len(waiting.left) == 0 {
				close(waiting.done)
			}
		}
	}
	w.mu.Unlock()
	if deleted && onDelete != nil {
		onDelete(at)
	}
}

// onDelete sets what is called when an object is seen to be gone.
func (w *watches) onDelete(f func(place)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked.deleted = f
}

// await returns a wait until the predicate holds for what is next seen of every place.
func (w *watches) await(ctx context.Context, places []place, met func(stamp string) bool) func() error {
	left := map[place]bool{}
	for _, at := range places {
		left[at] = true
	}
	waiting := &waiter{left: left, met: met, done: make(chan struct{})}
	w.mu.Lock()
	w.locked.waiting = append(w.locked.waiting, waiting)
	w.mu.Unlock()
	return func() error {
		defer w.forget(waiting)
		select {
		case <-waiting.done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d objects, such as %v: %w", len(left), anyOf(left), ctx.Err())
		}
	}
}

func (w *watches) forget(gone *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.locked.waiting[:0]
	for _, waiting := range w.locked.waiting {
		if waiting != gone {
			kept = append(kept, waiting)
		}
	}
	w.locked.waiting = kept
}

func anyOf(places map[place]bool) place {
	for at := range places {
		return at
	}
	return place{}
}
