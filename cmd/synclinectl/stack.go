package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/federation/source"
	hubobjects "github.com/syncline-dev/syncline/reconcilers/hub"
)

// loader reads what a revision says; see revision.Store.
type loader interface {
	Load(ctx context.Context, l v1alpha1.Layered, revision string) (source.Content, error)
}

// stackOf is the member's stack, as the member's owner has it: the layers that select the
// member, each in the revision that the member should have, without those that have none
// yet. A layer whose selector cannot be read stays where it is.
func stackOf(ctx context.Context, c client.Reader, revisions loader, member *v1alpha1.MemberCluster) (layer.Stack, error) {
	bound, err := revisionsOn(ctx, c, member)
	if err != nil {
		return nil, err
	}
	candidates, err := hubobjects.LayersWithin(ctx, c, member.Namespace)
	if err != nil {
		return nil, err
	}
	var layers []layer.Layer
	for _, l := range candidates {
		if !l.GetDeletionTimestamp().IsZero() {
			continue
		}
		had, isBound := bound[hubobjects.ReferenceTo(l)]
		selected, err := rollout.Selects(l, member)
		if err != nil {
			selected = isBound
		}
		revision := rollout.Wanted(l, member)
		if revision == "" {
			revision = had
		}
		if !selected || revision == "" {
			continue
		}
		content, err := revisions.Load(ctx, l, revision)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer.Layer{
			Ref: layer.RefOf(l), Revision: revision, Content: content,
			Ignore: l.LayerSpec().Sync.Ignore,
		})
	}
	return layer.NewStack(layers...), nil
}

// revisionsOn are the revisions that the member has, by the layers of its bindings.
func revisionsOn(ctx context.Context, c client.Reader, member *v1alpha1.MemberCluster) (map[v1alpha1.LayerReference]string, error) {
	// An API server cannot select by spec.member, as the manager's cache does.
	var list v1alpha1.LayerBindingList
	if err := c.List(ctx, &list, client.InNamespace(member.Namespace)); err != nil {
		return nil, fmt.Errorf("list bindings of member %s/%s: %w", member.Namespace, member.Name, err)
	}
	revisions := map[v1alpha1.LayerReference]string{}
	for _, b := range list.Items {
		if b.Spec.Member == member.Name {
			revisions[b.Spec.Layer] = b.Status.Revision
		}
	}
	return revisions, nil
}

// factsOf is what templates may know of the member.
func factsOf(member *v1alpha1.MemberCluster) source.Facts {
	return source.Facts{
		Name: member.Name, Namespace: member.Namespace,
		Labels: member.Labels, Version: member.Status.Version,
	}
}
