package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/install"
)

// watcher tells ownership and timeline what happens on the hub.
type watcher struct {
	hub       dynamic.Interface
	ownership *ownership
	timeline  timeline
}

// run returns when ctx is done, or when it cannot see everything any more.
func (w watcher) run(ctx context.Context, resource dynamic.ResourceInterface, see func(watch.EventType, *unstructured.Unstructured) error) error {
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := see(watch.Added, &list.Items[i]); err != nil {
			return err
		}
	}
	// It resumes where it was when a connection breaks, so that no change is missed.
	stream, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: resource.Watch})
	if err != nil {
		return err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return apierrors.FromObject(event.Object)
		}
		if err := see(event.Type, object); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return errors.New("the watch has ended")
}

const shardLeasePrefix = "syncline-shard-"

// leases watches who holds shards.
func (w watcher) leases(ctx context.Context) error {
	resource := w.hub.Resource(coordinationv1.SchemeGroupVersion.WithResource("leases")).Namespace(install.Namespace)
	return w.run(ctx, resource, func(kind watch.EventType, u *unstructured.Unstructured) error {
		index, is := strings.CutPrefix(u.GetName(), shardLeasePrefix)
		if !is || kind == watch.Deleted {
			return nil
		}
		said, err := tenureOf(index, u)
		if err != nil {
			return fmt.Errorf("lease %s: %w", u.GetName(), err)
		}
		if !w.ownership.leased(time.Now(), said) {
			return nil
		}
		if said.released.IsZero() {
			w.timeline.note(said.replica, "owns shard %d in epoch %d", said.shard, said.epoch)
		} else {
			w.timeline.note("hub", "shard %d is given back after epoch %d", said.shard, said.epoch)
		}
		return nil
	})
}

// tenureOf reads the Lease of a shard. Its last holder gave it back if it names none.
func tenureOf(index string, u *unstructured.Unstructured) (tenure, error) {
	var lease coordinationv1.Lease
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &lease); err != nil {
		return tenure{}, err
	}
	shard, err := strconv.Atoi(index)
	if err != nil {
		return tenure{}, err
	}
	t := tenure{
		shard: shard, epoch: int(ptr.Deref(lease.Spec.LeaseTransitions, 0)),
		began:   ptr.Deref(lease.Spec.AcquireTime, metav1.MicroTime{}).Time,
		renewed: ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{}).Time,
		lasts:   time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second,
	}
	identity := ptr.Deref(lease.Spec.HolderIdentity, "")
	if identity == "" {
		t.released = t.renewed
	}
	t.replica = identity[:max(0, strings.LastIndex(identity, "_"))] // what follows tells processes of one name apart
	return t, nil
}

// members watches whom members name as their owner.
func (w watcher) members(ctx context.Context) error {
	resource := w.hub.Resource(memberClusters).Namespace(namespace)
	return w.run(ctx, resource, func(kind watch.EventType, u *unstructured.Unstructured) error {
		var member v1alpha1.MemberCluster
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &member); err != nil {
			return err
		}
		var owner v1alpha1.MemberOwner
		if member.Status.Owner != nil && kind != watch.Deleted {
			owner = *member.Status.Owner
		}
		if w.ownership.stated(time.Now(), u.GetName(), owner.Replica, int(owner.Epoch)) {
			w.timeline.note(u.GetName(), "names as its owner %q in epoch %d", owner.Replica, owner.Epoch)
		}
		return nil
	})
}

var memberClusters = schema.GroupVersionResource{Group: v1alpha1.GroupVersion.Group, Version: v1alpha1.GroupVersion.Version, Resource: "memberclusters"}
