package member

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/object"
)

// unseen is a member to which there is no connection.
type unseen struct{}

func (unseen) Seen(object.ID) (member.Observation, bool) { return member.Observation{}, false }
func (unseen) Synced(schema.GroupKind) bool              { return false }
func (unseen) WatchProblem(schema.GroupKind) error       { return nil }

// live is what a plan may ask of a member: what its watches have shown, and nothing that
// does I/O.
type live interface {
	// Seen is the last sight of an object; false if it is not there, or not seen yet.
	Seen(id object.ID) (member.Observation, bool)
	// Synced says whether the watch of a kind has shown all that there is.
	Synced(kind schema.GroupKind) bool
	// WatchProblem is why what was seen of a kind may be old; nil if it is not.
	WatchProblem(kind schema.GroupKind) error
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
	// inform: others have changed it, and the layer wants that told and not mended.
	inform verb = "Inform"
	// leave: it stays on the member and is no longer ours.
	leave verb = "Leave"
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
	// seen is what the decision was made upon: the last sight of the object, or the member's
	// answer to the apply; zero where there was none.
	seen member.Observation
	// unseen says that the watches have not shown yet whether the object is there, missing
	// that they have, and it is not.
	unseen, missing bool
	// drifted says that others changed the object since we last wrote it.
	drifted bool
	// keeping is that of the object's home.
	keeping keeping
	// look says that the member's object is to be read before the verb is carried out.
	look bool
	// found is how the member's object differed from what is wanted when it was read.
	found []object.Difference
}

// plan is what a pass does, in order.
type plan struct {
	steps    []step
	removals []removal
	// problems are those of layers whose removals wait for a person.
	problems []object.Problem
}

// planner holds what planning looks at.
type planner struct {
	inventory inventory
	live      live
	pages     *pages
	now       time.Time
	keepings  keepings
	// hubNamespaces are those in which the hub itself lives, if the member is the hub; nil
	// for every other member.
	hubNamespaces map[string]bool
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
	p.planRemovals(&out, wanted, want.incomplete)
	p.awaitFoundations(out.steps)
	return out
}

// step decides about one object by what the inventory and the watches say.
func (p *planner) step(w wanted) step {
	s := step{
		object: w, applied: w.Digest, entry: p.inventory[w.ID].entry, verb: apply, keeping: p.keepings[w.Home],
	}
	seen, visible := p.live.Seen(w.ID)
	s.seen = seen
	switch {
	case w.Held || w.unclear != "":
		s.verb, s.why = hold, "held by a problem"
	case visible && seen.Deleting:
		s.verb, s.why = wait, "being deleted on the member"
	case s.entry.Applied == "" && s.entry.UID != "" && visible && seen.UID == s.entry.UID:
		s.verb, s.why = wait, "is being made anew"
	case s.entry.Applied == "":
		s.why, s.look = "new", s.keeping.adopts() != v1alpha1.AdoptAlways
	case s.entry.Applied != s.applied && !s.overruled():
		s.why = "changed"
	case !visible && p.live.Synced(w.ID.GroupKind()):
		s.why, s.drifted, s.missing = "deleted by others", true, true
	case !visible:
		s.verb, s.why, s.unseen = keep, "not seen yet", true
	case seen.UID != s.entry.UID:
		s.why, s.drifted, s.look = "made anew by others", true, true
	case seen.Owned != s.entry.Owned:
		s.why, s.drifted, s.look = "changed by others", true, true
	case s.overruled():
		s.why = "overruled by the member"
	case p.pages.again[w.Home]:
		s.why = "tried again"
	case len(s.entry.Yielded) > 0 && s.keeping.conflicts() != v1alpha1.ConflictYield:
		s.why = "yields no longer"
	default:
		s.verb = keep
	}
	switch {
	case s.drifted && s.keeping.reportsDrift():
		p.inform(&s, seen.ResourceVersion)
	case s.verb == apply && p.holds(&s):
		s.verb, s.why, s.look = hold, "refused by the member", false
	}
	return s
}

// inform has a drift told instead of mended. It is looked into once for each version of the
// object; what others have undone themselves is no drift any more.
func (p *planner) inform(s *step, version string) {
	problem, known := p.pages.reported(s.object.ID, version)
	switch {
	case known && problem == (object.Problem{}):
		s.verb, s.drifted, s.look = keep, false, false
	default:
		s.verb, s.look = inform, s.look && !known
	}
}

// holds says whether what the step tries was refused and its time has not come. What was
// overruled, and has been changed by others since, is another matter.
func (p *planner) holds(s *step) bool {
	if s.overruled() && s.drifted || p.pages.again[s.object.Home] {
		return false
	}
	return p.pages.holds(s.object.ID, s.attempt(), p.now)
}

// overruledMark follows the digest of what was sent where the member made something else of
// it: a replica that starts tries it once, instead of taking it for done.
const overruledMark = "!"

// attempt is what the step tries: a content by the rules of one generation of its layer. An
// edit of either is tried at once, whatever was refused before.
func (s *step) attempt() string { return s.applied + "@" + strconv.FormatInt(s.keeping.generation, 10) }

// outdatedBy says whether the object has become another one, or has been changed by others,
// since the step was decided upon.
func (s *step) outdatedBy(seen member.Observation) bool {
	if s.seen.UID == "" {
		return seen.UID != s.entry.UID || seen.Owned != s.entry.Owned
	}
	return seen.UID != s.seen.UID || seen.Owned != s.seen.Owned
}

// overruled says whether the member has made something else of what was sent.
func (s *step) overruled() bool { return s.entry.Applied == s.applied+overruledMark }

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
