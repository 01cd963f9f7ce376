package member

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// snapshot is everything that a pass reads of the hub, read once.
type snapshot struct {
	key types.NamespacedName
	// member is nil once the MemberCluster is gone or going.
	member *v1alpha1.MemberCluster
	// paused says why nothing may be written to the member; empty if writing is allowed.
	paused string
	// placed are the layers on the member, in no order.
	placed []placedLayer
	// leaving are the bindings whose layer is no longer on the member.
	leaving []*v1alpha1.LayerBinding
}

// placedLayer is one layer on the member.
type placedLayer struct {
	layer    v1alpha1.Layered
	revision string
	content  source.Content
	// binding is nil until the layer's first pass on this member.
	binding *v1alpha1.LayerBinding
}

// ref names the layer as folds do.
func (p *placedLayer) ref() layer.Ref { return layer.RefOf(p.layer) }

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
func (r *Reconciler) look(ctx context.Context, key types.NamespacedName) (*snapshot, error) {
	snap := &snapshot{key: key}
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
	byLayer := map[v1alpha1.LayerReference]*v1alpha1.LayerBinding{}
	for i := range bindings {
		newest := r.ledger.newest(key, &bindings[i])
		byLayer[newest.Spec.Layer] = newest
	}
	if snap.member != nil {
		if snap.paused, err = r.pausedBecause(ctx, member); err != nil {
			return nil, err
		}
		if err := r.place(ctx, snap, byLayer); err != nil {
			return nil, err
		}
	}
	for _, binding := range byLayer {
		snap.leaving = append(snap.leaving, binding)
	}
	return snap, nil
}

// place finds the layers on the member and takes their bindings out of byLayer.
func (r *Reconciler) place(ctx context.Context, snap *snapshot, byLayer map[v1alpha1.LayerReference]*v1alpha1.LayerBinding) error {
	layers, err := hub.LayersWithin(ctx, r.Client, snap.key.Namespace)
	if err != nil {
		return err
	}
	for _, candidate := range layers {
		ref := hub.ReferenceTo(candidate)
		binding := byLayer[ref]
		if !candidate.GetDeletionTimestamp().IsZero() {
			continue
		}
		selected, err := rollout.Selects(candidate, snap.member)
		if err != nil {
			// A selector that cannot be read moves nobody: who has the layer keeps it.
			selected = binding != nil
		}
		revision := rollout.Wanted(candidate, snap.member)
		if revision == "" && binding != nil {
			revision = binding.Status.Revision // a layer's status was lost: what the member has stays wanted
		}
		if !selected || revision == "" {
			continue
		}
		content, err := r.Revisions.Load(ctx, candidate, revision)
		if err != nil {
			return err
		}
		snap.placed = append(snap.placed, placedLayer{layer: candidate, revision: revision, content: content, binding: binding})
		delete(byLayer, ref)
	}
	return nil
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
