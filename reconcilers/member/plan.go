package member

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

// unseen is a member to which there is no connection.
type unseen struct{}

func (unseen) Seen(object.ID) (member.Observation, bool) { return member.Observation{}, false }
func (unseen) Synced(schema.GroupKind) bool              { return false }

// live is what a plan may ask of a member: what its watches have shown, and nothing that
// does I/O.
type live interface {
	// Seen is the last sight of an object; false if it is not there, or not seen yet.
	Seen(id object.ID) (member.Observation, bool)
	// Synced says whether the watch of a kind has shown all that there is.
	Synced(kind schema.GroupKind) bool
}

// verb is what to do about one desired object.
type verb string

const (
	// keep: the member has it as wanted.
	keep verb = "Keep"
	// apply: send it.
	apply verb = "Apply"
	// hold: a problem forbids sending it; what is on the member stays.
	hold verb = "Hold"
	// wait: something else must happen on the member first.
	wait verb = "Wait"
)

// step is one desired object and what to do about it.
type step struct {
	object wanted
	verb   verb
	// why is for logs, events and messages: "new", "changed", "drifted", "waiting for ...".
	why string
	// applied is the digest of what is to be on the member.
	applied string
	// entry is what the inventory knows of the object.
	entry v1alpha1.InventoryEntry
	// unseen says that the watches have not shown yet whether the object is there.
	unseen bool
	// drifted says that others changed the object since we last wrote it.
	drifted bool
}

// removal is an object that the inventory lists and no layer wants.
type removal struct {
	id object.ID
	// home is the layer whose binding lists the object.
	home  layer.Ref
	entry v1alpha1.InventoryEntry
	verb  verb // apply: delete it now; wait: it is going, or others must go first
	why   string
}

// plan is what a pass does, in order.
type plan struct {
	steps    []step
	removals []removal
}

// planner holds what planning looks at.
type planner struct {
	inventory inventory
	live      live
	pages     *pages
	now       time.Time
}

// plan compares what is wanted with what is there. It is pure: the same values give the
// same plan.
func (p *planner) plan(want *desired) plan {
	var out plan
	wanted := make(map[object.ID]bool, len(want.objects))
	for _, w := range want.objects {
		wanted[w.ID] = true
		out.steps = append(out.steps, p.step(w))
	}
	for id, held := range p.inventory {
		if !wanted[id] {
			out.removals = append(out.removals, p.removal(id, held, want.incomplete))
		}
	}
	slices.SortFunc(out.removals, func(a, b removal) int { return object.CompareApply(b.id, a.id) })
	p.orderRemovals(out.removals)
	p.awaitFoundations(out.steps)
	return out
}

// step decides about one object by what the inventory and the watches say.
func (p *planner) step(w wanted) step {
	s := step{object: w, applied: w.Digest, entry: p.inventory[w.ID].entry, verb: apply}
	seen, visible := p.live.Seen(w.ID)
	switch {
	case w.Held || w.unclear != "":
		s.verb, s.why = hold, "held by a problem"
	case visible && seen.Deleting:
		s.verb, s.why = wait, "being deleted on the member"
	case s.entry.Applied == "":
		s.why = "new"
	case s.entry.Applied != s.applied:
		s.why = "changed"
	case !visible && p.live.Synced(w.ID.GroupKind()):
		s.why, s.drifted = "deleted by others", true
	case !visible:
		s.verb, s.why, s.unseen = keep, "not seen yet", true
	case seen.UID != s.entry.UID:
		s.why, s.drifted = "made anew by others", true
	case seen.Owned != s.entry.Owned:
		s.why, s.drifted = "changed by others", true
	default:
		s.verb = keep
	}
	if s.verb == apply && p.pages.holds(w.ID, s.applied, p.now) {
		s.verb, s.why = hold, "refused by the member"
	}
	return s
}

// removal decides about one object that no layer wants. While a layer holds an object that
// could not be identified, it might be this one.
func (p *planner) removal(id object.ID, listed held, incomplete []layer.Ref) removal {
	r := removal{id: id, home: listed.home, entry: listed.entry, verb: apply, why: "no layer holds it"}
	if len(incomplete) > 0 {
		r.verb = hold
		r.why = fmt.Sprintf("layer %s holds an object that cannot be identified, and this might be it", incomplete[0])
		return r
	}
	seen, visible := p.live.Seen(id)
	switch {
	case visible && seen.Deleting:
		r.verb, r.why = wait, "being deleted on the member"
	case p.pages.holds(id, removing, p.now):
		r.verb, r.why = hold, "refused by the member"
	}
	return r
}

// orderRemovals lets foundations go last: a namespace or a CRD takes along what is in it,
// and what is in it must be seen to go by itself first.
func (p *planner) orderRemovals(removals []removal) {
	others := slices.ContainsFunc(removals, func(r removal) bool { return !object.Foundation(r.id) })
	if !others {
		return
	}
	for i := range removals {
		if r := &removals[i]; object.Foundation(r.id) && r.verb == apply {
			r.verb, r.why = wait, "what stands on it goes first"
		}
	}
}

// awaitFoundations holds back objects whose namespace or kind is itself desired and is
// not in place yet.
func (p *planner) awaitFoundations(steps []step) {
	missing := map[foundation]string{}
	for i := range steps {
		s := &steps[i]
		if base := foundationOf(s.object); base != (foundation{}) && !p.inPlace(s) {
			missing[base] = s.object.ID.String()
		}
	}
	if len(missing) == 0 {
		return
	}
	for i := range steps {
		s := &steps[i]
		if object.Foundation(s.object.ID) || s.verb != apply && !s.unseen {
			continue
		}
		for _, need := range needs(s.object.ID) {
			if name, isMissing := missing[need]; isMissing {
				s.verb, s.why = wait, "waiting for "+name
			}
		}
	}
}

// inPlace says whether others can stand on the object. A namespace serves as soon as it
// exists; a CRD when it is established.
func (p *planner) inPlace(s *step) bool {
	seen, visible := p.live.Seen(s.object.ID)
	if !visible || seen.Deleting {
		return false
	}
	return s.object.ID.Kind == "Namespace" || seen.Health.Status == object.Current
}

// foundation is what others stand on: a namespace, or a kind.
type foundation struct {
	namespace string
	kind      schema.GroupKind
}

// foundationOf is what the object is to others; zero if it is nothing, or if it is held and
// nobody knows what it is to be.
func foundationOf(w wanted) foundation {
	if object.Foundation(w.ID) && w.ID.Kind == "Namespace" {
		return foundation{namespace: w.ID.Name}
	}
	return foundation{kind: w.Defines()}
}

// needs are the foundations that an object stands on: its kind, and its namespace if it is
// in one.
func needs(id object.ID) []foundation {
	needed := []foundation{{kind: id.GroupKind()}}
	if id.Namespace != "" {
		needed = append(needed, foundation{namespace: id.Namespace})
	}
	return needed
}
