package member

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// desired is what the member is to have, as the member names it.
type desired struct {
	objects    []wanted
	problems   []object.Problem
	incomplete []layer.Ref
}

// wanted is one object of it. The ID is the object's own, but that a namespaced object
// without a namespace is in "default", where the member will put it.
type wanted struct {
	*layer.Object
	ID object.ID
	// unclear says why it is not known what the object is to be: it is held.
	unclear string
}

// fold folds the member's stack. Kinds that are neither built in nor defined by the stack
// are folded by the member's own schemas, and held while those cannot be read.
func (r *Reconciler) fold(ctx context.Context, snap *snapshot, c connection) *desired {
	layers := stack.Of(snap.placed)
	facts := stack.Facts(snap.member, versionOf(snap.member, c))
	folded := r.Folds.Fold(layers, facts, layer.Builtin())
	unclear := map[schema.GroupVersionKind]string{}
	if kinds := folded.ForeignKinds(); len(kinds) > 0 && c.usable() {
		theirs, problems := memberSchemas(ctx, c.member, kinds)
		unclear = problems
		if len(theirs.types) > 0 {
			folded = r.Folds.Fold(layers, facts, layer.Chain(layer.Builtin(), theirs))
		}
	}
	out := &desired{problems: folded.Problems, incomplete: folded.Incomplete}
	for i := range folded.Objects {
		o := &folded.Objects[i]
		out.objects = append(out.objects, wanted{Object: o, ID: o.ID, unclear: unclear[o.GVK]})
	}
	if c.usable() {
		out.settleNamespaces(ctx, c.member)
	}
	return out
}

// versionOf is the member's version as its owner sees it now, or as it was last written.
func versionOf(mc *v1alpha1.MemberCluster, c connection) string {
	return cmp.Or(c.reach.Version, mc.Status.Version)
}

// kindSchemas are the types of some kinds, as one member publishes them.
type kindSchemas struct {
	types map[schema.GroupVersionKind]typed.ParseableType
	print string
}

// memberSchemas reads the kinds' schemas; of those that cannot be read it says why. A kind
// that the member does not serve yet has none, and cannot be applied either.
func memberSchemas(ctx context.Context, m *member.Member, kinds []schema.GroupVersionKind) (kindSchemas, map[schema.GroupVersionKind]string) {
	out := kindSchemas{types: map[schema.GroupVersionKind]typed.ParseableType{}}
	problems := map[schema.GroupVersionKind]string{}
	for _, gvk := range kinds {
		found, ok, err := m.Schema(ctx, gvk)
		switch {
		case err != nil:
			problems[gvk] = "the member's schema of the kind cannot be read: " + member.Classify(err).Message
		case ok:
			out.types[gvk] = found
			// Members share a schema by its content, so that its address stands for it.
			out.print += fmt.Sprintf("%s=%p;", gvk, found.Schema)
		}
	}
	return out, problems
}

// Type implements layer.Schemas.
func (s kindSchemas) Type(gvk schema.GroupVersionKind) (typed.ParseableType, bool) {
	t, ok := s.types[gvk]
	return t, ok
}

// Fingerprint implements layer.Schemas.
func (s kindSchemas) Fingerprint() string { return s.print }

// settleNamespaces gives namespaced objects without a namespace the one in which the
// member will put them. An object that is there under both spellings is held.
func (d *desired) settleNamespaces(ctx context.Context, m *member.Member) {
	spelled := map[object.ID]bool{}
	for _, w := range d.objects {
		spelled[w.ID] = true
	}
	for i := range d.objects {
		w := &d.objects[i]
		if w.ID.Namespace != "" || w.Held {
			continue
		}
		namespaced, err := m.Namespaced(ctx, w.GVK)
		if err != nil || !namespaced {
			continue // applying it will say what is wrong
		}
		w.ID.Namespace = metav1.NamespaceDefault
		if spelled[w.ID] {
			w.unclear = "layers name it with namespace default and without: write the namespace everywhere"
		}
	}
}
