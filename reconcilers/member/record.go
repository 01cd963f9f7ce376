package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// record writes what the pass saw and did: one status write for each binding that says
// something new, and one for the member, each at its pace.
//
// Bindings that gain objects are written before those that lose them: between the writes
// an object whose home changed is listed twice, and never not at all.
func (r *Reconciler) record(ctx context.Context, p *pass) error {
	after := p.inventories()
	placed := slices.Clone(p.placed)
	gain := func(of stack.Placed) int { return len(after[of.Ref()]) - len(p.before[of.Ref()]) }
	slices.SortStableFunc(placed, func(a, b stack.Placed) int { return gain(b) - gain(a) })
	p.judgeByRules(ctx)
	converged := 0
	var statements []*statement
	for i := range placed {
		conclusion := p.judge(ctx, &placed[i])
		if conclusion.progress.State == v1alpha1.StateConverged {
			converged++
		}
		s, err := p.state(&placed[i], conclusion, after[placed[i].Ref()])
		if err != nil {
			return err
		}
		if !p.postponed(s) {
			statements = append(statements, s)
		}
	}
	if err := r.say(ctx, p, statements); err != nil {
		return err
	}
	if err := r.recordLeaving(ctx, p, after); err != nil {
		return err
	}
	r.tellAll(p)
	return r.recordMember(ctx, p, fmt.Sprintf("%d/%d", converged, len(p.placed)))
}

// list makes a binding's status list the entries after a pass. It is the one part of a status
// whose making costs something, and mostly it is what it was.
func (p *pass) list(status *v1alpha1.LayerBindingStatus, ref layer.Ref, after entries) error {
	about := cmp.Or(p.connection.reach.UID, status.MemberUID)
	if about == status.MemberUID && after.equal(p.before[ref]) {
		return nil
	}
	status.MemberUID = about
	return after.writeTo(status)
}

// recordLeaving lets the bindings go whose objects are all gone, and says of the others
// what they wait for.
func (r *Reconciler) recordLeaving(ctx context.Context, p *pass, after lists) error {
	for _, d := range p.leaving {
		if err := r.recordDeparture(ctx, p, d, after[refOf(d.binding)]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) recordDeparture(ctx context.Context, p *pass, d departure, left entries) error {
	if len(left) == 0 {
		_, err := r.letGo(ctx, p.snapshot, d.binding)
		return err
	}
	if due, waits := r.overdue(p, d); waits {
		if due == 0 {
			return r.giveUp(ctx, p, d, left)
		}
		p.wakeIn(due)
	}
	verdict := convergence.Judge(p.observeLeaving(d.binding))
	_, err := r.writeBinding(ctx, p.snapshot, d.binding, func(status *v1alpha1.LayerBindingStatus) error {
		*status = convergence.Record(*status, verdict, convergence.Unwaited(*status, verdict), d.binding.Generation, metav1.NewTime(p.now))
		return p.list(status, refOf(d.binding), left)
	})
	return err
}

// inventories are the lists of all bindings after the pass: an object that is wanted is
// listed by its home, one that is going by the binding that had it.
func (p *pass) inventories() lists {
	after := lists{}
	put := func(ref layer.Ref, id object.ID) {
		entry, listed := p.report.entries[id]
		if !listed {
			return
		}
		if after[ref] == nil {
			after[ref] = entries{}
		}
		after[ref][id] = entry
	}
	for _, s := range p.plan.steps {
		put(s.object.Home, s.object.ID)
	}
	for _, removed := range p.plan.removals {
		put(removed.home, removed.id)
	}
	return after
}

// observe is what the pass knows of one layer on the member.
func (p *pass) observe(placed *stack.Placed) convergence.Observation {
	o := p.observation()
	o.Revision = placed.Given
	o.LayerGeneration = placed.Layer.LayerStatus().ObservedGeneration
	for _, s := range p.plan.steps {
		// A layer that holds a part of an object is in effect only when the object is.
		if slices.Contains(s.object.Layers, placed.Ref()) {
			o.Objects = append(o.Objects, p.observeStep(&s))
		}
	}
	o.Objects = append(o.Objects, p.observeRemovals(placed.Ref())...)
	o.Problems = slices.Concat(p.problemsOf(placed.Ref()), p.yielded(placed.Ref()), placed.Criteria.Problems)
	return o
}

func (p *pass) observeLeaving(binding *v1alpha1.LayerBinding) convergence.Observation {
	o := p.observation()
	o.Revision, o.LayerGeneration = binding.Status.Revision, binding.Status.LayerGeneration
	o.Objects = p.observeRemovals(refOf(binding))
	o.Problems = p.problemsOf(refOf(binding))
	return o
}

// problemsOf are the problems of which a layer is to blame.
func (p *pass) problemsOf(ref layer.Ref) []object.Problem {
	var found []object.Problem
	for _, problem := range slices.Concat(p.desired.problems, p.plan.problems) {
		if problem.Layer == ref.String() {
			found = append(found, problem)
		}
	}
	return found
}

// yielded tells of the fields of a layer's objects that were left to others.
func (p *pass) yielded(ref layer.Ref) []object.Problem {
	var found []object.Problem
	for _, s := range p.plan.steps {
		if s.object.Home != ref {
			continue
		}
		for _, field := range p.report.entries[s.object.ID].Yielded {
			found = append(found, object.Problem{
				Severity: object.Warning, Layer: ref.String(), Object: s.object.ID, Path: field.Path, Reason: "Yielded",
				Detail: "it is left to " + field.Manager,
			})
		}
	}
	return found
}

// observation is what holds for every layer on the member.
func (p *pass) observation() convergence.Observation {
	return convergence.Observation{
		Reachable: p.connection.usable(),
		LastSeen:  p.lastSeen(),
		Paused:    p.paused != "" || p.report.stopped(),
		Barred:    p.barred,
	}
}

// observeStep is what is known of a wanted object. Of one that was not sent, or that the
// member refused, it says why.
func (p *pass) observeStep(s *step) convergence.Object {
	id := s.object.ID
	o := convergence.Object{ID: id, Applied: s.verb == keep, Drifted: s.drifted && s.verb != keep}
	switch {
	case s.object.Held:
		o.Problem = ptr.To(p.cause(id))
	case s.object.unclear != "":
		o.Problem = ptr.To(problemOf(s.object.Home, id, "Unclear", s.object.unclear))
	case s.verb == inform:
		o.Problem = ptr.To(p.drift(s))
	case s.verb == wait:
		o.Waits = s.why
	}
	if refused, known := p.pages.refused[id]; known && refused.stands(s.attempt()) {
		if refused.lasting() {
			o.Problem = &refused.problem
		} else {
			o.Waits = refused.problem.Detail
		}
	}
	if p.connection.member == nil {
		return o
	}
	if problem := p.connection.member.WatchProblem(id.GroupKind()); problem != nil {
		if outOfSight(problem) {
			o.OutOfSight = true
			return o // what was seen is old, and a moment from now we shall know
		}
		if o.Problem == nil && s.verb == keep {
			o.Problem = ptr.To(problemOf(s.object.Home, id, "CannotWatch", problem.Error()))
		}
	}
	if seen, visible := p.connection.member.Seen(id); visible {
		o.Seen, o.Health = true, p.healthOf(s, seen)
		// Status writes take time: what is seen now may be another content's health.
		o.Drifted = o.Drifted || s.verb == keep && s.outdatedBy(seen)
	}
	return o
}

// outOfSight says whether a kind cannot be seen since the member was away, and nothing is
// wrong with the kind.
func outOfSight(problem error) bool {
	reason := member.Classify(problem).Reason
	return reason == member.ReasonUnreachable || reason == member.ReasonTimeout
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
		o := convergence.Object{ID: r.id, Waits: r.fate()}
		if refused, known := p.pages.refused[r.id]; known && refused.stands(removing) && refused.lasting() {
			o.Problem = &refused.problem
		}
		going = append(going, o)
	}
	return going
}

// drift is what is known of a drift that is only told.
func (p *pass) drift(s *step) object.Problem {
	if p.connection.member != nil {
		if seen, visible := p.connection.member.Seen(s.object.ID); visible {
			if problem, known := p.pages.reported(s.object.ID, seen.ResourceVersion); known {
				return problem
			}
		}
	}
	return drifted(s)
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
