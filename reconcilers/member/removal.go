package member

import (
	"fmt"
	"slices"
	"strings"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

// removal is an object that the inventory lists and no layer wants.
type removal struct {
	id object.ID
	// home is the layer whose binding lists the object.
	home  layer.Ref
	entry v1alpha1.InventoryEntry
	// verb: apply deletes it now, leave lets go of it, wait waits for it or for others to
	// go, hold keeps it.
	verb verb
	why  string
}

// fate says what becomes of the object, and why.
func (r removal) fate() string {
	switch r.verb {
	case hold:
		return "stays for now: " + r.why
	case leave:
		return "is let go: " + r.why
	}
	return "is to be deleted: " + r.why
}

// Reasons of problems that keep objects from being removed.
const (
	reasonPruneLimit    = "PruneLimitExceeded"
	reasonEmptied       = "LayerEmptied"
	reasonSelectsNobody = "SelectsNoMember"
)

// planRemovals decides about everything that the inventory lists and no layer wants.
func (p *planner) planRemovals(out *plan, wanted map[object.ID]bool, incomplete []layer.Ref) {
	listed, going := map[layer.Ref]int{}, map[layer.Ref]int{}
	for id, held := range p.inventory {
		listed[held.home]++
		if !wanted[id] {
			going[held.home]++
			out.removals = append(out.removals, p.removal(id, held, incomplete))
		}
	}
	for home, count := range going {
		if problem, barred := p.bar(home, count, listed[home]); barred {
			out.problems = append(out.problems, problem)
			holdAll(out.removals, home)
		}
	}
	slices.SortFunc(out.problems, object.CompareProblems)
	slices.SortFunc(out.removals, func(a, b removal) int { return object.CompareApply(b.id, a.id) })
	orderRemovals(out.removals)
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
	case visible && seen.Deleting && p.live.WatchProblem(id.GroupKind()) == nil:
		r.verb, r.why = wait, "being deleted on the member"
	case p.keepings[r.home].undecided:
		r.verb, r.why = hold, "the member is given no revision of the layer yet"
	case p.pages.holds(id, removing, p.now):
		r.verb, r.why = hold, "refused by the member"
	case p.keepings[r.home].orphans(id):
		r.verb, r.why = leave, "it is left on the member"
	case p.carriesHub(id):
		r.verb, r.why = leave, "the hub stands on it"
	}
	return r
}

// bar says why the removals of one home wait for a person, if they do.
func (p *planner) bar(home layer.Ref, going, listed int) (object.Problem, bool) {
	k := p.keepings[home]
	problem := object.Problem{Severity: object.Error, Layer: home.String()}
	limit := k.limit(listed)
	switch {
	case k.deserted && !k.policy.AllowEmpty:
		problem.Reason, problem.Path = reasonSelectsNobody, "spec.clusterSelector"
		problem.Detail = fmt.Sprintf("it selects no member any more, and %d objects of the layer are still on this one: "+
			"mend it, or let them go by sync.allowEmpty or by deleting the layer", going)
	case k.emptied && !k.policy.AllowEmpty:
		problem.Reason = reasonEmptied
		problem.Detail = fmt.Sprintf("the layer holds no objects any more, and %d of it are still on the member: "+
			"mend it, or let them go by sync.allowEmpty or by deleting the layer", going)
	case !k.departing && !k.emptied && !k.rolledBack && going > limit:
		problem.Reason, problem.Path = reasonPruneLimit, "spec.sync.pruneLimit"
		problem.Detail = fmt.Sprintf("the layer no longer holds %d of the %d objects that it has on the member, more than the limit of %d: "+
			"mend it, or let them go by a limit of %d", going, listed, limit, going)
	default:
		return object.Problem{}, false
	}
	return problem, true
}

// holdAll keeps what a home would remove. What is going already goes.
func holdAll(removals []removal, home layer.Ref) {
	for i := range removals {
		if r := &removals[i]; r.home == home && (r.verb == apply || r.verb == leave) {
			r.verb, r.why = hold, "this waits for a person"
		}
	}
}

// orderRemovals lets foundations go last: a namespace or a CRD takes along what is in it,
// and what is in it must be seen to go by itself first.
func orderRemovals(removals []removal) {
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

// carriesHub says whether the hub itself stands on the object: on a member that is the hub
// these are its own kinds and those of Cluster API, and the namespaces in which they live.
func (p *planner) carriesHub(id object.ID) bool {
	if p.hubNamespaces == nil || !object.Foundation(id) {
		return false
	}
	if id.Kind == "Namespace" {
		return p.hubNamespaces[id.Name]
	}
	_, group, _ := strings.Cut(id.Name, ".")
	return group == v1alpha1.GroupVersion.Group || group == "cluster.x-k8s.io" || strings.HasSuffix(group, ".cluster.x-k8s.io")
}
