package stack

import (
	"cmp"
	"context"

	"github.com/syncline-dev/syncline/api/v1alpha1"
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
	Layer    v1alpha1.Layered
	Revision string
	Content  source.Content
	// Binding is nil until the layer's first pass on the member.
	Binding *v1alpha1.LayerBinding
}

// Ref names the layer as folds do.
func (p *Placed) Ref() layer.Ref { return layer.RefOf(p.Layer) }

// On finds the layers on a member among those within its reach, in their order. A layer
// that is being deleted is on no member. One whose selector cannot be read moves nobody:
// who has it keeps it. One whose status was lost stays in the revision that the member has.
func On(ctx context.Context, member *v1alpha1.MemberCluster, within []v1alpha1.Layered, bindings Bindings, revisions Revisions) ([]Placed, error) {
	var all []Placed
	for _, candidate := range within {
		if !candidate.GetDeletionTimestamp().IsZero() {
			continue
		}
		binding := bindings[hub.ReferenceTo(candidate)]
		selected, err := rollout.Selects(candidate, member)
		if err != nil {
			selected = binding != nil
		}
		revision := cmp.Or(rollout.Wanted(candidate, member), had(binding))
		if !selected || revision == "" {
			continue
		}
		content, err := revisions.Load(ctx, candidate, revision)
		if err != nil {
			return nil, err
		}
		all = append(all, Placed{Layer: candidate, Revision: revision, Content: content, Binding: binding})
	}
	return all, nil
}

func had(binding *v1alpha1.LayerBinding) string {
	if binding == nil {
		return ""
	}
	return binding.Status.Revision
}

// Of is the stack that placed layers make.
func Of(placed []Placed) layer.Stack {
	layers := make([]layer.Layer, 0, len(placed))
	for i := range placed {
		p := &placed[i]
		layers = append(layers, layer.Layer{
			Ref: p.Ref(), Revision: p.Revision, Content: p.Content,
			Ignore: p.Layer.LayerSpec().Sync.Ignore,
		})
	}
	return layer.NewStack(layers...)
}

// Facts are what templates may know of a member of a version.
func Facts(member *v1alpha1.MemberCluster, version string) source.Facts {
	return source.Facts{Name: member.Name, Namespace: member.Namespace, Labels: member.Labels, Version: version}
}
