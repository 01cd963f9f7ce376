package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// watcher tells ownership and timeline what happens on the hub.
type watcher struct {
	hub       dynamic.Interface
	ownership *ownership
	timeline  timeline
}

const shardLeasePrefix = "syncline-shard-"

// leases watches who holds shards.
func (w watcher) leases(ctx context.Context) error {
	resource := w.hub.Resource(coordinationv1.SchemeGroupVersion.WithResource("leases")).Namespace(install.Namespace)
	return fleet.Follow(ctx, resource, func(kind watch.EventType, u *unstructured.Unstructured) error {
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
	return fleet.Follow(ctx, resource, func(kind watch.EventType, u *unstructured.Unstructured) error {
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
