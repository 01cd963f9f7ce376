package member

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// snapshot is everything that a pass reads of the hub, read once.
type snapshot struct {
	key types.NamespacedName
	// owner is the ownership under which the member is served.
	owner shard.Ownership
	// member is nil once the MemberCluster is gone or going.
	member *v1alpha1.MemberCluster
	// paused says why nothing may be written to the member; empty if writing is allowed.
	paused string
	// placed are the layers on the member, in no order.
	placed []stack.Placed
	// leaving are the bindings whose layer is no longer on the member.
	leaving []departure
}

// refOf names the layer of a binding as folds do.
func refOf(binding *v1alpha1.LayerBinding) layer.Ref {
	ref := layer.Ref{Kind: binding.Spec.Layer.Kind, Name: binding.Spec.Layer.Name}
	if ref.Kind == v1alpha1.KindLayer {
		ref.Namespace = binding.Namespace
	}
	return ref
}

// look takes the snapshot. Every error ends the pass: a layer that cannot be read is not
// a layer that is gone.
func (r *Reconciler) look(ctx context.Context, key types.NamespacedName, owner shard.Ownership, ask *inquiry) (*snapshot, error) {
	snap := &snapshot{key: key, owner: owner}
	member := &v1alpha1.MemberCluster{}
	switch err := r.Client.Get(ctx, key, member); {
	case err == nil && member.DeletionTimestamp.IsZero():
		snap.member = member
	case err != nil && !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("read MemberCluster: %w", err)
	}
	bindings, err := hub.BindingsOfMember(ctx, r.Client, key)
	if err != nil {
		return nil, err
	}
	byLayer := stack.Bindings{}
	for i := range bindings {
		newest := r.ledger.newest(key, &bindings[i])
		byLayer[newest.Spec.Layer] = newest
	}
	if snap.member != nil {
		if snap.paused, err = r.pausedBecause(ctx, member); err != nil {
			return nil, err
		}
		within, err := hub.LayersWithin(ctx, r.Client, key.Namespace)
		if err != nil {
			return nil, err
		}
		facts := func(kinds, nodes bool) rollout.MemberFacts { return ask.of(ctx, member, kinds, nodes) }
		site := stack.Site{Member: member, Within: within, Bindings: byLayer, Facts: facts, Criteria: r.Criteria}
		if snap.placed, err = stack.On(ctx, site, r.Revisions); err != nil {
			return nil, err
		}
		for i := range snap.placed {
			delete(byLayer, hub.ReferenceTo(snap.placed[i].Layer))
		}
	}
	for _, binding := range byLayer {
		departure, err := r.departure(ctx, binding)
		if err != nil {
			return nil, err
		}
		snap.leaving = append(snap.leaving, departure)
	}
	return snap, nil
}

// pausedBecause says why nothing may be written to the member.
func (r *Reconciler) pausedBecause(ctx context.Context, member *v1alpha1.MemberCluster) (string, error) {
	var federation v1alpha1.Federation
	err := r.Client.Get(ctx, client.ObjectKey{Name: v1alpha1.FederationName}, &federation)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read Federation: %w", err)
	}
	if federation.Spec.Paused {
		return "the Federation's spec.paused is true", nil
	}
	return pausedByMember(member), nil
}

// pausedByMember says why the member itself is paused: by a person, or by Cluster API as
// registration has seen it.
func pausedByMember(member *v1alpha1.MemberCluster) string {
	if member.Spec.Paused {
		return "the MemberCluster's spec.paused is true"
	}
	if paused := meta.FindStatusCondition(member.Status.Conditions, v1alpha1.ConditionPaused); paused != nil {
		return paused.Message
	}
	return ""
}
