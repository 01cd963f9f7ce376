package member

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// What preconditions ask of a member is read anew after factsAge, since no watch tells of it,
// and sooner where it could not be read.
const (
	factsAge    = 30 * time.Second
	factsRetry  = 5 * time.Second
	factsWithin = 10 * time.Second
	maxNodes    = 1000
)

// fact is something that was read from a member.
type fact[T any] struct {
	value T
	// unknown is why it could not be read; empty if it could.
	unknown string
	// due is when it is to be read again; zero if it was never read.
	due time.Time
}

// facts are what preconditions have asked of a member.
type facts struct {
	kinds fact[[]string]
	nodes fact[[]rollout.Node]
}

// inquiry reads a member's facts in one pass, as far as they are asked for.
type inquiry struct {
	connection connection
	known      *facts
	now        time.Time
	// due is when a fact that was asked for is to be read again; zero for never.
	due time.Time
}

// of is what is known of a member.
func (i *inquiry) of(ctx context.Context, mc *v1alpha1.MemberCluster, kinds, nodes bool) rollout.MemberFacts {
	about := rollout.MemberFacts{Facts: stack.Facts(mc, versionOf(mc, i.connection))}
	if kinds {
		about.Kinds, about.KindsUnknown = ask(ctx, i, &i.known.kinds, readKinds)
	}
	if nodes {
		about.Nodes, about.NodesUnknown = ask(ctx, i, &i.known.nodes, readNodes)
	}
	return about
}

// ask is a fact as it was last read, if that is not too long ago. What was read of a member that
// has gone out of sight is not known any more.
func ask[T any](ctx context.Context, i *inquiry, known *fact[T], read func(context.Context, *member.Member) (T, error)) (value T, unknown string) {
	if !i.connection.usable() {
		known.due = time.Time{}
		return value, "the member cannot be seen"
	}
	if !i.now.Before(known.due) {
		ctx, cancel := context.WithTimeout(ctx, factsWithin)
		defer cancel()
		var err error
		known.value, err = read(ctx, i.connection.member)
		known.unknown, known.due = "", i.now.Add(factsAge)
		if err != nil {
			known.unknown, known.due = member.Classify(err).Message, i.now.Add(factsRetry)
		}
	}
	if i.due.IsZero() || known.due.Before(i.due) {
		i.due = known.due
	}
	return known.value, known.unknown
}

func readKinds(ctx context.Context, m *member.Member) ([]string, error) {
	served, err := m.Kinds(ctx)
	names := map[string]bool{}
	for _, gvk := range served {
		names[gvk.GroupVersion().String()+"/"+gvk.Kind] = true
	}
	return slices.Sorted(maps.Keys(names)), err
}

func readNodes(ctx context.Context, m *member.Member) ([]rollout.Node, error) {
	list, err := m.List(ctx, v1alpha1.ObservedObjects{Kind: "Node"}, maxNodes)
	if err != nil {
		return nil, err
	}
	nodes := make([]rollout.Node, 0, len(list.Items))
	for i := range list.Items {
		u := &list.Items[i]
		node := rollout.Node{Name: u.GetName(), Labels: u.GetLabels()}
		if node.Capacity, _, err = unstructured.NestedStringMap(u.Object, "status", "capacity"); err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}
