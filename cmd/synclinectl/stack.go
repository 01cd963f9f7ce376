package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/criteria"
	hubobjects "github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// stackOf is the member's stack, as the member's owner has it.
func stackOf(ctx context.Context, c client.Reader, revisions stack.Revisions, member *v1alpha1.MemberCluster) ([]stack.Placed, error) {
	// An API server cannot select by spec.member, as the manager's cache does.
	var list v1alpha1.LayerBindingList
	if err := c.List(ctx, &list, client.InNamespace(member.Namespace)); err != nil {
		return nil, fmt.Errorf("list bindings of member %s/%s: %w", member.Namespace, member.Name, err)
	}
	bindings := stack.Bindings{}
	for i := range list.Items {
		if b := &list.Items[i]; b.Spec.Member == member.Name {
			bindings[b.Spec.Layer] = b
		}
	}
	within, err := hubobjects.LayersWithin(ctx, c, member.Namespace)
	if err != nil {
		return nil, err
	}
	site := stack.Site{Member: member, Within: within, Bindings: bindings, Criteria: criteria.NewCache()}
	return stack.On(ctx, site, revisions)
}
