package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/syncline-dev/syncline/test/fleet"
)

// patience is how long a change may take until it is seen everywhere.
const patience = 30 * time.Second

// stampField is the annotation that every change sets anew.
const stampField = "bench.syncline.dev/stamp"

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// place is one object on one cluster.
type place struct {
	cluster, resource, namespace, name string
}

// feed is what one watch sees: one resource in one namespace of one cluster.
type feed struct {
	cluster   *fleet.Cluster
	resource  schema.GroupVersionResource
	namespace string
	// stamp is what changes are told by: the part of an object that is measured.
	stamp func(*unstructured.Unstructured) string
}

// stampOf is the stamp of the measured layer's objects.
func stampOf(o *unstructured.Unstructured) string { return o.GetAnnotations()[stampField] }

// watches see everything that is measured, ours and the bare loop's alike.
type watches struct {
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	locked struct {
		waiting  []*waiter
		onChange func(at place, stamp string)
	}
}

// waiter waits until a predicate holds for all places.
type waiter struct {
	left map[place]bool
	met  func(stamp string) bool
	done chan struct{}
}

// watchAll watches until stop is called.
func watchAll(ctx context.Context, feeds ...feed) (*watches, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watches{cancel: cancel}
	for _, f := range feeds {
		c, err := dynamic.NewForConfig(f.cluster.RESTConfig())
		if err != nil {
			w.stop()
			return nil, err
		}
		stream, err := c.Resource(f.resource).Namespace(f.namespace).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			w.stop()
			return nil, fmt.Errorf("watch %s on %s: %w", f.resource.Resource, f.cluster.Name(), err)
		}
		w.running.Go(func() { w.follow(stream, f) })
	}
	return w, nil
}

func (w *watches) stop() {
	w.cancel()
	w.running.Wait()
}

func (w *watches) follow(stream watch.Interface, f feed) {
	defer stream.Stop()
	for event := range stream.ResultChan() {
		o, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		stamp := ""
		if event.Type != watch.Deleted {
			stamp = f.stamp(o)
		}
		w.see(place{f.cluster.Name(), f.resource.Resource, o.GetNamespace(), o.GetName()}, stamp)
	}
}

func (w *watches) see(at place, stamp string) {
	w.mu.Lock()
	onChange := w.locked.onChange
	for _, waiting := range w.locked.waiting {
		if waiting.left[at] && waiting.met(stamp) {
			delete(waiting.left, at)
			if len(waiting.left) == 0 {
				close(waiting.done)
			}
		}
	}
	w.mu.Unlock()
	if onChange != nil {
		onChange(at, stamp)
	}
}

// onChange sets what is called for everything that is seen, with an empty stamp for what
// is gone. It is how a bare loop watches: by the very watches that take the time.
func (w *watches) onChange(f func(at place, stamp string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked.onChange = f
}

// timed is the time from the beginning of a change until what is seen next of every place
// meets a predicate.
func (w *watches) timed(ctx context.Context, places []place, met func(stamp string) bool, change func(context.Context) error) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	waiting := w.await(places, met)
	began := time.Now()
	err := change(ctx)
	if err == nil {
		select {
		case <-waiting.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	took := time.Since(began)
	w.forget(waiting)
	if err != nil {
		return 0, fmt.Errorf("change of %d objects, such as %v: %w", len(waiting.left), anyOf(waiting.left), err)
	}
	return took, nil
}

func (w *watches) await(places []place, met func(stamp string) bool) *waiter {
	waiting := &waiter{left: map[place]bool{}, met: met, done: make(chan struct{})}
	for _, at := range places {
		waiting.left[at] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked.waiting = append(w.locked.waiting, waiting)
	return waiting
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
