package member

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// record writes what the pass saw and did: one status write for each binding that says
// something new, and one for the member.
//
// Bindings that gain objects are written before those that lose them: between the writes
// an object whose home changed is listed twice, and never not at all.
func (r *Reconciler) record(ctx context.Context, p *pass) error {
	lists := p.inventories()
	placed := slices.Clone(p.placed)
	slices.SortStableFunc(placed, func(a, b stack.Placed) int {
		return gain(b, lists[b.Ref()]) - gain(a, lists[a.Ref()])
	})
	converged := 0
	for i := range placed {
		verdict := convergence.Judge(p.observe(&placed[i]))
		if verdict.State == v1alpha1.StateConverged {
			converged++
		}
		written, err := r.writeBinding(ctx, p.snapshot, placed[i].Binding, func(status *v1alpha1.LayerBindingStatus) {
			*status = convergence.Record(*status, verdict, placed[i].Binding.Generation, metav1.NewTime(p.now))
			status.Inventory = lists[placed[i].Ref()].sorted()
		})
		if err != nil {
			return err
		}
		placed[i].Binding = written
	}
	if err := r.recordLeaving(ctx, p, lists); err != nil {
		return err
	}
	r.tellMended(p)
	return r.recordMember(ctx, p, converged)
}

// gain is how many objects a binding's inventory grows by.
func gain(p stack.Placed, list entries) int {
	return len(list) - len(p.Binding.Status.Inventory)
}

// recordLeaving lets the bindings go whose objects are all gone, and says of the others
// what they wait for.
func (r *Reconciler) recordLeaving(ctx context.Context, p *pass, lists map[layer.Ref]entries) error {
	for _, binding := range p.leaving {
		left := lists[refOf(binding)]
		if len(left) == 0 {
			if _, err := r.letGo(ctx, binding); err != nil {
				return err
			}
			continue
		}
		verdict := convergence.Judge(p.observeLeaving(binding))
		_, err := r.writeBinding(ctx, p.snapshot, binding, func(status *v1alpha1.LayerBindingStatus) {
			*status = convergence.Record(*status, verdict, binding.Generation, metav1.NewTime(p.now))
			status.Inventory = left.sorted()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inventories are the lists of all bindings after the pass: an object that is wanted is
// listed by its home, one that is going by the binding that had it.
func (p *pass) inventories() map[layer.Ref]entries {
	lists := map[layer.Ref]entries{}
	put := func(ref layer.Ref, id object.ID) {
		entry, listed := p.report.entries[id]
		if !listed {
			return
		}
		if lists[ref] == nil {
			lists[ref] = entries{}
		}
		lists[ref][id] = entry
	}
	for _, s := range p.plan.steps {
		put(s.object.Home, s.object.ID)
	}
	for _, removed := range p.plan.removals {
		put(removed.home, removed.id)
	}
	return lists
}

// observe is what the pass knows of one layer on the member.
func (p *pass) observe(placed *stack.Placed) convergence.Observation {
	o := p.observation()
	o.Revision = placed.Revision
	o.LayerGeneration = placed.Layer.LayerStatus().ObservedGeneration
	for _, s := range p.plan.steps {
		// A layer that holds a part of an object is in effect only when the object is.
		if slices.Contains(s.object.Layers, placed.Ref()) {
			o.Objects = append(o.Objects, p.observeStep(&s))
		}
	}
	o.Objects = append(o.Objects, p.observeRemovals(placed.Ref())...)
	for _, problem := range p.desired.problems {
		if problem.Layer == placed.Ref().String() {
			o.Problems = append(o.Problems, problem)
		}
	}
	return o
}

func (p *pass) observeLeaving(binding *v1alpha1.LayerBinding) convergence.Observation {
	o := p.observation()
	o.Revision, o.LayerGeneration = binding.Status.Revision, binding.Status.LayerGeneration
	o.Objects = p.observeRemovals(refOf(binding))
	return o
}

// observation is what holds for every layer on the member.
func (p *pass) observation() convergence.Observation {
	return convergence.Observation{
		Reachable: p.connection.usable(),
		LastSeen:  p.lastSeen(),
		Paused:    p.paused != "" || p.report.stopped(),
	}
}

// observeStep is what is known of a wanted object. Of one that was not sent, or that the
// member refused, it says why.
func (p *pass) observeStep(s *step) convergence.Object {
	id := s.object.ID
	o := convergence.Object{ID: id, Applied: s.verb == keep, Drifted: s.drifted && s.verb != keep}
	switch {
	case s.object.Held:
		problem := p.cause(id)
		o.Problem = &problem
	case s.object.unclear != "":
		o.Problem = p.problem(s.object.Home, id, "Unclear", s.object.unclear)
	case s.verb == wait:
		o.Waits = s.why
	}
	if refused, known := p.pages.refused[id]; known && refused.stands(s.applied) {
		if refused.lasting() {
			o.Problem = &refused.problem
		} else {
			o.Waits = refused.problem.Detail
		}
	}
	if p.connection.member == nil {
		return o
	}
	kind := id.GroupKind()
	if problem := p.connection.member.WatchProblem(kind); problem != nil && o.Problem == nil && s.verb == keep {
		o.Problem = p.problem(s.object.Home, id, "CannotWatch", problem.Error())
	}
	if seen, visible := p.connection.member.Seen(id); visible {
		o.Seen, o.Health = true, seen.Health
	}
	return o
}

// observeRemovals are the objects that a binding still lists and that are to go.
func (p *pass) observeRemovals(ref layer.Ref) []convergence.Object {
	var going []convergence.Object
	for _, r := range p.plan.removals {
		if r.home != ref {
			continue
		}
		if _, listed := p.report.entries[r.id]; !listed {
			continue
		}
		o := convergence.Object{ID: r.id, Waits: "is to be deleted: " + r.why}
		if refused, known := p.pages.refused[r.id]; known && refused.stands(removing) && refused.lasting() {
			o.Problem = &refused.problem
		}
		going = append(going, o)
	}
	return going
}

// cause is the problem that holds an object: the first error that names it.
func (p *pass) cause(id object.ID) object.Problem {
	for _, problem := range p.desired.problems {
		if problem.Object == id && problem.Severity == object.Error {
			return problem
		}
	}
	return object.Problem{Severity: object.Error, Object: id, Reason: "Held", Detail: "an error in a layer leaves open what it is to be"}
}

func (p *pass) problem(home layer.Ref, id object.ID, reason, detail string) *object.Problem {
	return &object.Problem{Severity: object.Error, Layer: home.String(), Object: id, Reason: reason, Detail: detail}
}

// lastSeen is when the member last answered, as this replica or an earlier owner saw it.
func (p *pass) lastSeen() metav1.Time {
	if seen := p.connection.reach.LastSeen; !seen.IsZero() {
		return metav1.NewTime(seen).Rfc3339Copy()
	}
	if p.member.Status.LastSeen != nil {
		return *p.member.Status.LastSeen
	}
	return metav1.Time{}
}

// recordMember writes what the owner knows of the member.
func (r *Reconciler) recordMember(ctx context.Context, p *pass, converged int) error {
	after := p.member.DeepCopy()
	status := &after.Status
	status.Owner = r.Identity
	status.Layers = fmt.Sprintf("%d/%d", converged, len(p.placed))
	reach := p.connection.reach
	if reach.Version != "" {
		status.Version = reach.Version
	}
	if reach.UID != "" {
		status.UID = reach.UID
	}
	reachable := metav1.Condition{Type: v1alpha1.ConditionReachable, Status: metav1.ConditionTrue, Reason: "Reachable"}
	status.LastSeen = nil
	switch {
	case p.connection.member == nil || reach.Since.IsZero():
		reachable.Status, reachable.Reason, reachable.Message = metav1.ConditionUnknown, "Connecting", "the member has not answered yet"
	case !reach.Reachable:
		reachable.Status, reachable.Reason, reachable.Message = metav1.ConditionFalse, "Unreachable", reach.Err
	}
	if seen := p.lastSeen(); reachable.Status != metav1.ConditionTrue && !seen.IsZero() {
		status.LastSeen = &seen
	}
	hub.SetCondition(after, reachable)
	hub.SummarizeMember(after)
	_, err := hub.PatchStatus(ctx, r.Client, p.member, after)
	return err
}

// tellMended tells people, once, what others had changed and is mended.
func (r *Reconciler) tellMended(p *pass) {
	const most = 5
	byHome := map[layer.Ref][]string{}
	for _, s := range p.plan.steps {
		if slices.Contains(p.report.mended, s.object.ID) {
			byHome[s.object.Home] = append(byHome[s.object.Home], s.object.ID.String())
		}
	}
	for _, placed := range p.placed {
		names := byHome[placed.Ref()]
		if len(names) == 0 {
			continue
		}
		count := len(names)
		r.Events.Eventf(placed.Binding, nil, corev1.EventTypeNormal, "DriftMended", "Apply",
			"%d changed or deleted by others on %s and put back: %s", count, p.key, strings.Join(names[:min(count, most)], ", "))
	}
}
