package stack

import (
	"cmp"
	"context"
	"slices"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/criteria"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// Revisions reads what a revision of a layer says. An error is an error, and not an empty
// layer.
type Revisions interface {
	Load(ctx context.Context, l v1alpha1.Layered, revision string) (source.Content, error)
}

// Bindings are a member's bindings by their layers.
type Bindings map[v1alpha1.LayerReference]*v1alpha1.LayerBinding

// Placed is one layer on a member.
type Placed struct {
	Layer v1alpha1.Layered
	// Choice says which revision the member is given, and which it should have.
	convergence.Choice
	// Content is that of the given revision; nothing where there is none.
	Content source.Content
	// Criteria are what the layer asks of members.
	Criteria *criteria.Criteria
	// Binding is nil until the layer's first pass on the member.
	Binding *v1alpha1.LayerBinding
}

// Ref names the layer as folds do.
func (p *Placed) Ref() layer.Ref { return layer.RefOf(p.Layer) }

// Status is that of the binding, or a new one's.
func (p *Placed) Status() v1alpha1.LayerBindingStatus {
	if p.Binding == nil {
		return v1alpha1.LayerBindingStatus{}
	}
	return p.Binding.Status
}

// Site is a member and all that may be placed on it.
type Site struct {
	Member *v1alpha1.MemberCluster
	// Within are the layers within the member's reach.
	Within []v1alpha1.Layered
	// Bindings are what the member has.
	Bindings Bindings
	// Facts reads what preconditions ask of the member, its kinds and its nodes if need be. Where
	// it is nil, the bindings tell what the member's owner has found.
	Facts func(kinds, nodes bool) rollout.MemberFacts
	// Criteria compiles what layers ask.
	Criteria *criteria.Cache
}

// On finds the layers on a member, in their order, each in the revision that the member is
// given. A layer that is being deleted is on no member. One whose selector cannot be read moves
// nobody: who has it keeps it. One whose status was lost stays in the revision that the member
// has.
func On(ctx context.Context, site Site, revisions Revisions) ([]Placed, error) {
	var all []Placed
	for _, candidate := range site.Within {
		if !candidate.GetDeletionTimestamp().IsZero() {
			continue
		}
		p := Placed{Layer: candidate, Binding: site.Bindings[hub.ReferenceTo(candidate)]}
		selected, err := rollout.Selects(candidate, site.Member)
		if err != nil {
			selected = p.Binding != nil
		}
		p.Wanted = cmp.Or(rollout.Wanted(candidate, site.Member), p.Status().Revision)
		if selected && p.Wanted != "" {
			p.Criteria = site.Criteria.Of(candidate)
			all = append(all, p)
		}
	}
	return all, choose(ctx, all, site, revisions)
}

// choose decides, bottom to top, which revision of each layer the member is given: what stands
// above a Strict layer waits for it.
func choose(ctx context.Context, all []Placed, site Site, revisions Revisions) error {
	slices.SortStableFunc(all, func(a, b Placed) int {
		return layer.Compare(a.Layer.LayerSpec().Order, a.Ref(), b.Layer.LayerSpec().Order, b.Ref())
	})
	var strict *Placed
	for i := range all {
		p := &all[i]
		barrier := rollout.Barrier(p.Layer, p.Wanted)
		if strict != nil {
			barrier = cmp.Or(barrier, rollout.Behind(strict.Layer, p.Wanted))
		}
		excluded, unknown := site.applies(p)
		p.Choice = convergence.Choose(p.Wanted, p.Status(), cmp.Or(unknown, barrier), excluded)
		if p.Given != "" {
			var err error
			if p.Content, err = revisions.Load(ctx, p.Layer, p.Given); err != nil {
				return err
			}
		}
		isStrict := p.Layer.LayerSpec().Consistency == v1alpha1.ConsistencyStrict
		if strict == nil && isStrict && !convergence.Settled(p.Choice, p.Status()) {
			strict = p
		}
	}
	return nil
}

// applies asks the layer's precondition: why it excludes the member, or what keeps that from
// being known.
func (s Site) applies(p *Placed) (excluded string, unknown *convergence.Barrier) {
	when := p.Criteria.When
	switch {
	case s.Facts == nil && convergence.Excludes(p.Status()):
		return "as the member's owner has found", nil
	case s.Facts == nil:
		return "", nil
	case when == nil:
		return "", rollout.Undecided(p.Wanted, "spec.when cannot be asked: see the layer's condition Rendered")
	}
	answer, why := when.Holds(s.Facts(when.Needs()))
	switch answer {
	case expression.False:
		return "spec.when " + why, nil
	case expression.Unknown:
		return "", rollout.Undecided(p.Wanted, why)
	}
	return "", nil
}

// Of is the stack that placed layers make: those of which the member is given something.
func Of(placed []Placed) layer.Stack {
	layers := make([]layer.Layer, 0, len(placed))
	for i := range placed {
		p := &placed[i]
		if p.Given == "" {
			continue
		}
		layers = append(layers, layer.Layer{
			Ref: p.Ref(), Revision: p.Given, Content: p.Content,
			Ignore: p.Layer.LayerSpec().Sync.Ignore,
		})
	}
	return layer.NewStack(layers...)
}

// Facts are what templates may know of a member of a version.
func Facts(member *v1alpha1.MemberCluster, version string) source.Facts {
	return source.Facts{Name: member.Name, Namespace: member.Namespace, Labels: member.Labels, Version: version}
}
