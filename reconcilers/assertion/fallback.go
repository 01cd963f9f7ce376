package assertion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// maxHolders is the API's limit of what can hold a layer.
const maxHolders = 16

// holderPrefix begins the name of an assertion in a layer's status.
const holderPrefix = "StateAssertion "

// holder is how a layer's status names an assertion.
func holder(key types.NamespacedName) string { return holderPrefix + key.String() }

// holdersOf are the assertions that a layer's status names.
func holdersOf(layer v1alpha1.Layered) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, by := range layer.LayerStatus().HeldBy {
		rest, is := strings.CutPrefix(by, holderPrefix)
		if namespace, name, found := strings.Cut(rest, "/"); is && found {
			keys = append(keys, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	return keys
}

// fallBack brings the layers to where the verdict has them: held or not, rolled back or not.
func (r *Reconciler) fallBack(ctx context.Context, p *pass) error {
	action := p.assertion.Spec.Fallback.Action
	keep := func(v1alpha1.Layered) bool { return false }
	if action == v1alpha1.AssertionHold && (p.status.Acted != nil || !p.judged()) {
		// One that cannot be judged lets go of nothing, and takes nothing.
		keep = func(layer v1alpha1.Layered) bool {
			return slices.Contains(p.assertion.Spec.Fallback.Layers, hub.ReferenceTo(layer))
		}
	}
	if err := r.release(ctx, p.key, keep); err != nil {
		return err
	}
	p.recall()
	if p.status.Acted == nil || !p.judged() {
		return nil
	}
	for _, layer := range p.layers {
		var err error
		switch action {
		case v1alpha1.AssertionHold:
			err = r.hold(ctx, p, layer)
		case v1alpha1.AssertionRollback:
			err = r.rollBack(ctx, p, layer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recall remembers what was rolled back for this assertion, as the layers have it: a leader may
// have ended between the two, and the assertion may hold since.
func (p *pass) recall() {
	for _, layer := range p.layers {
		if back := layer.LayerStatus().RolledBack; back != nil && back.By == holder(p.key) {
			p.status.RolledBack = assertion.Remember(p.status.RolledBack, back.From)
		}
	}
}

// release lets go of the layers that the assertion holds, but for those to keep.
func (r *Reconciler) release(ctx context.Context, key types.NamespacedName, keep func(v1alpha1.Layered) bool) error {
	layers, err := hub.LayersWithin(ctx, r.Client, key.Namespace, client.UnsafeDisableDeepCopy)
	if err != nil {
		return err
	}
	by := holder(key)
	for _, layer := range layers {
		if !slices.Contains(layer.LayerStatus().HeldBy, by) || keep != nil && keep(layer) {
			continue
		}
		err := r.change(ctx, layer, func(status *v1alpha1.LayerStatus) {
			status.HeldBy = slices.DeleteFunc(status.HeldBy, func(other string) bool { return other == by })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hold keeps new revisions of the layer from members.
func (r *Reconciler) hold(ctx context.Context, p *pass, layer v1alpha1.Layered) error {
	by, held := holder(p.key), layer.LayerStatus().HeldBy
	switch {
	case slices.Contains(held, by):
	case len(held) >= maxHolders:
		p.trouble = append(p.trouble, fmt.Sprintf("%s is held by %d others, which is the limit", hub.Describe(layer), len(held)))
		return nil
	default:
		err := r.change(ctx, layer, func(status *v1alpha1.LayerStatus) { status.HeldBy = append(status.HeldBy, by) })
		if err != nil {
			return err
		}
	}
	p.done = append(p.done, hub.Describe(layer)+" is held")
	return nil
}

// rollBack returns the layer to an earlier revision, once for each revision: what the assertion
// remembers is not done again, whatever people have chosen since, and what the layer says of
// itself need not be.
func (r *Reconciler) rollBack(ctx context.Context, p *pass, layer v1alpha1.Layered) error {
	newest, chosen := layer.LayerStatus().Revision, layer.LayerStatus().RolledBack
	switch {
	case newest == "":
		return nil
	case slices.Contains(p.status.RolledBack, newest):
	case p.verdict.Answer != expression.False:
		return nil
	case chosen == nil || chosen.From != newest:
		history, err := r.Revisions.History(ctx, layer)
		if err != nil {
			return err
		}
		earlier := assertion.Earlier(history, newest, p.status.RolledBack)
		if earlier == "" {
			p.trouble = append(p.trouble, fmt.Sprintf("%s has no revision before %s to return to: mend the layer", hub.Describe(layer), newest))
			return nil
		}
		choice := v1alpha1.RevisionChoice{Revision: earlier, By: holder(p.key), At: p.now}
		err = r.change(ctx, layer, func(status *v1alpha1.LayerStatus) {
			status.RolledBack = &v1alpha1.Rollback{RevisionChoice: choice, From: newest}
		})
		if err != nil {
			return err
		}
	}
	p.status.RolledBack = assertion.Remember(p.status.RolledBack, newest)
	p.done = append(p.done, fmt.Sprintf("%s was returned to a revision before %s", hub.Describe(layer), newest))
	return nil
}

// change writes the status of a layer. Where the cache was behind, that is a conflict.
func (r *Reconciler) change(ctx context.Context, layer v1alpha1.Layered, how func(*v1alpha1.LayerStatus)) error {
	after := layer.DeepCopyObject().(v1alpha1.Layered)
	how(after.LayerStatus())
	_, err := hub.PatchStatus(ctx, r.Client, layer, after)
	return client.IgnoreNotFound(err)
}
