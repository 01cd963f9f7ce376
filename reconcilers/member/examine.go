package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/object"
)

// Reasons of problems that are found by looking at the member's object.
const (
	reasonExists    = "AlreadyExists"
	reasonDrifted   = "Drifted"
	reasonContested = "Contested"
	reasonOverruled = "Overruled"
)

// examine reads the objects of which a step wants to know more, and decides what follows:
// whether one that is there before us may be adopted, who has changed ours, and whether it
// is worth mending.
func (e *executor) examine(ctx context.Context, steps []step, done *report) {
	lives := make([]*unstructured.Unstructured, len(steps))
	errs := make([]error, len(steps))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i := range steps {
		if s := &steps[i]; s.look {
			group.Go(func() error {
				lives[i], errs[i] = e.member.Get(ctx, s.object.ID, s.object.GVK.Version)
				return nil // an object that cannot be read is a result, and stops nobody else
			})
		}
	}
	_ = group.Wait() // no function returns an error
	for i := range steps {
		s := &steps[i]
		switch {
		case !s.look:
		case errs[i] != nil && !gone(errs[i]):
			e.settle(s, outcome{err: errs[i]}, done)
		case s.drifted:
			e.explainDrift(s, lives[i])
		case errs[i] == nil:
			e.considerAdoption(s, lives[i])
		}
	}
}

// considerAdoption holds a new object in whose place the member has one that is not ours to
// take.
func (e *executor) considerAdoption(s *step, live *unstructured.Unstructured) {
	if live.GetLabels()[v1alpha1.LabelHub] == e.hub {
		return // ours, from before the inventory was lost
	}
	keeper, kept := object.Keeper(live, e.hub, v1alpha1.FieldManager, member.CededManager)
	if s.keeping.adopts() == v1alpha1.AdoptIfUnmanaged && !kept {
		return
	}
	detail := "it is on the member already, and sync.adopt is " + string(s.keeping.adopts())
	if kept {
		detail += "; it is kept by " + keeper
	} else if managers := others(live); managers != "" {
		detail += "; it was written by " + managers
	}
	detail += ": remove it there, rename ours, or let it be adopted"
	e.hold(s, problemOf(s.object.Home, s.object.ID, reasonExists, detail))
}

// others names the managers that hold fields of an object.
func others(live *unstructured.Unstructured) string {
	var names []string
	managers, err := object.Managers(live, v1alpha1.FieldManager, member.CededManager)
	if err != nil {
		return "managers that cannot be read"
	}
	for _, m := range managers {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// hold keeps a step from being carried out, until its content changes or a good while has
// passed.
func (e *executor) hold(s *step, problem object.Problem) {
	e.pages.refuse(s.object.ID, s.attempt(), problem, true, e.now)
	s.verb, s.why = hold, "held by a problem"
}

// explainDrift finds out what others have changed. What they change again and again is not
// mended at once.
func (e *executor) explainDrift(s *step, live *unstructured.Unstructured) {
	if live != nil {
		s.found = object.Differences(marked(s.object, e.hub).Object, live, v1alpha1.FieldManager)
	}
	if s.verb == inform {
		e.inform(s, live)
		return
	}
	if len(s.found) == 0 {
		return
	}
	if e.contested(s, changes(s.found)) {
		s.verb, s.why = hold, "contested"
	}
}

// contested counts a change by others, and holds the object if they make it again and again.
func (e *executor) contested(s *step, change string) bool {
	if !e.pages.contest(s.object.ID, change, e.now) {
		return false
	}
	e.pages.backOff(s.object.ID, s.attempt(), contestedProblem(s), e.now)
	drifts.WithLabelValues(outcomeContested).Inc()
	return true
}

// inform notes what was found of a drift that is not mended. Where others have put back what
// they had changed there is none, although they hold the fields from now on.
func (e *executor) inform(s *step, live *unstructured.Unstructured) {
	switch {
	case live == nil: // it went since it was seen, and the watch will tell
	case len(s.found) == 0:
		e.pages.report(s.object.ID, live.GetResourceVersion(), object.Problem{})
		s.verb, s.drifted = keep, false
	case e.pages.report(s.object.ID, live.GetResourceVersion(), drifted(s)):
		drifts.WithLabelValues(outcomeReported).Inc()
	}
}

// drifted is the problem of an object whose drift is only reported.
func drifted(s *step) object.Problem {
	return s.problem(reasonDrifted, s.found,
		s.told()+", and sync.drift is Report: undo it on the member, or bring it into the layer")
}

// contestedProblem is that of an object which another manager changes as often as we mend it.
func contestedProblem(s *step) object.Problem {
	return s.problem(reasonContested, s.found, fmt.Sprintf(
		"%s again each time that %s mends it: cede the field (sync.ignore), yield it (sync.conflicts), or stop the other",
		s.told(), v1alpha1.FieldManager))
}

// overruledProblem is that of an object of which the member makes something else.
func overruledProblem(s *step, found []object.Difference) object.Problem {
	return s.problem(reasonOverruled, found,
		"the member takes the apply and keeps another value, as an admission webhook or policy may: "+
			"mend that there, or cede the field (sync.ignore)")
}

// problem is a problem of the step's object, at the first field that differs.
func (s *step) problem(reason string, found []object.Difference, detail string) object.Problem {
	problem := problemOf(s.object.Home, s.object.ID, reason, detail)
	if len(found) > 0 {
		problem.Path = found[0].Path.String()
	}
	return problem
}

// change says what others did: "spec.replicas was changed by kube-controller-manager". It
// holds no values.
func (s *step) change() string {
	if len(s.found) == 0 {
		return "it was " + s.why
	}
	return changes(s.found)
}

// told is change for a problem, which begins with the path of the first field.
func (s *step) told() string {
	if len(s.found) == 0 {
		return s.change()
	}
	return strings.TrimPrefix(s.change(), s.found[0].Path.String()+" ")
}

// changes describes differences by their fields and managers.
func changes(found []object.Difference) string {
	const most = 3
	var parts []string
	for _, d := range found[:min(len(found), most)] {
		parts = append(parts, fmt.Sprintf("%s was changed by %s", d.Path, cmp.Or(d.Manager, "others")))
	}
	if more := len(found) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}
