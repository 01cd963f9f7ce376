package convergence

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
)

// MaxProblems is how many problems a binding's status lists.
const MaxProblems = 10

// Observation is what is known of one layer on one member.
type Observation struct {
	// Revision is the revision that the member should have.
	Revision string
	// LayerGeneration is the layer's generation that all of this is about.
	LayerGeneration int64
	// Reachable says whether the member can be seen; LastSeen when it last was, zero for
	// never. LastSeen only matters for a member that cannot be seen.
	Reachable bool
	LastSeen  metav1.Time
	// Paused says that nothing may be written to the member.
	Paused bool
	// Barred is why the member is not written to although it answers; nil if it is.
	Barred *object.Problem
	// Objects are those that the layer has a part in.
	Objects []Object
	// Problems are those of which the layer is to blame, whatever the home of the object.
	Problems []object.Problem
	// MinHealthyPercent is how many of the objects must be healthy once all are written and seen;
	// 0 is 100.
	MinHealthyPercent int32
	// Assertions are what became of those of the layer. They count once the objects have
	// converged.
	Assertions []Assertion
}

// Assertion is what became of an assertion.
type Assertion struct {
	Name string
	// Answer says whether it holds; Message why it does not, or why that is unknown.
	Answer  expression.Answer
	Message string
}

// Object is what is known of one object.
type Object struct {
	ID object.ID
	// Applied says that what was last written is what is wanted.
	Applied bool
	// Waits says what the object waits for where it is not Applied; may be empty.
	Waits string
	// Seen says that what was last seen is at least as new as what was last written.
	Seen bool
	// OutOfSight says that the member was away, and that what it has of the object's kind now is
	// not known yet.
	OutOfSight bool
	// Drifted says that others have changed what is ours, and that it is not mended yet.
	Drifted bool
	// Health of what was last seen. An object whose controller has not seen its newest
	// generation is in progress.
	Health object.Health
	// Problem is why the object cannot be written, or is held; nil where nothing is in the
	// way.
	Problem *object.Problem
}

// converged says whether the object counts.
func (o Object) converged() bool {
	return o.reached() && o.Health.Status == object.Current
}

// reached says whether the object is on the member as wanted, healthy or not.
func (o Object) reached() bool { return o.Problem == nil && o.Applied && o.Seen && !o.Drifted }

// Verdict is the judgement on one layer on one member.
type Verdict struct {
	// State is where the layer stands on the member.
	State v1alpha1.State
	// Reason is a CamelCase word for conditions.
	Reason string
	// Message says what holds the layer back, the worst of it; empty when all is well.
	Message string
	// Revision and LayerGeneration are what the verdict is about.
	Revision        string
	LayerGeneration int64
	// Objects and Healthy count the objects and those that have converged; Drift counts
	// those changed by others.
	Objects, Healthy, Drift int32
	// Problems, the worst first, are at most MaxProblems.
	Problems []v1alpha1.Problem
	// Written says that every object has been written, and Blind that some are out of sight.
	Written, Blind bool
}

// String is the state and what holds it.
func (v Verdict) String() string {
	s := fmt.Sprintf("%s %d/%d", v.State, v.Healthy, v.Objects)
	if v.Message != "" {
		s += ": " + v.Message
	}
	return s
}

// finding is what one object or problem says about the layer.
type finding struct {
	state           v1alpha1.State
	reason, message string
}

// Reasons of verdicts, beside those of problems.
const (
	ReasonConverged   = "Converged"
	ReasonProgressing = "Progressing"
	ReasonFailed      = "ObjectFailed"
	ReasonPaused      = "Paused"
	ReasonUnreachable = "Unreachable"
	// ReasonNotApplicable: the layer does not apply to the member.
	ReasonNotApplicable = "NotApplicable"
	// ReasonAssertionFailed: the objects have converged, and an assertion is false.
	ReasonAssertionFailed = "AssertionFailed"
	// ReasonAssertionUnknown: whether an assertion holds cannot be told.
	ReasonAssertionUnknown = "AssertionUnknown"
)

// Judge judges an observation. The order of its objects and problems does not matter.
func Judge(o Observation) Verdict {
	v := Verdict{
		Revision:        o.Revision,
		LayerGeneration: o.LayerGeneration,
		Objects:         int32(len(o.Objects)),
		Problems:        problems(o),
	}
	if !o.Reachable {
		v.State, v.Reason, v.Message = v1alpha1.StateUnknown, ReasonUnreachable, lastSeen(o.LastSeen)
		return v
	}
	v.Written = true
	for _, obj := range o.Objects {
		v.Written = v.Written && obj.Applied
		v.Blind = v.Blind || obj.OutOfSight
		if obj.converged() {
			v.Healthy++
		}
		if obj.Drifted {
			v.Drift++
		}
	}
	if o.Barred != nil {
		v.State, v.Reason, v.Message = v1alpha1.StateDegraded, o.Barred.Reason, Shorten(o.Barred.Detail, 1024)
		return v
	}
	worst := finding{state: v1alpha1.StateConverged, reason: ReasonConverged}
	for _, f := range findings(o, enough(o, v.Healthy)) {
		if compareFindings(f, worst) < 0 {
			worst = f
		}
	}
	if worst.state == v1alpha1.StateConverged {
		worst = ofAssertions(o.Assertions, worst)
	}
	v.State, v.Reason, v.Message = worst.state, worst.reason, Shorten(worst.message, 1024)
	return v
}

// enough says whether so many healthy objects are as many as are asked for.
func enough(o Observation, healthy int32) bool {
	return o.MinHealthyPercent > 0 && int64(healthy)*100 >= int64(o.MinHealthyPercent)*int64(len(o.Objects))
}

// ofAssertions is the first assertion that does not hold, a false one before one that is
// unknown; otherwise what was found before.
func ofAssertions(assertions []Assertion, before finding) finding {
	worst := before
	for _, a := range assertions {
		message := "assertion " + a.Name + ": " + a.Message
		switch a.Answer {
		case expression.False:
			return finding{v1alpha1.StateProgressing, ReasonAssertionFailed, message}
		case expression.Unknown:
			if worst == before {
				worst = finding{v1alpha1.StateProgressing, ReasonAssertionUnknown, message}
			}
		}
	}
	return worst
}

func lastSeen(t metav1.Time) string {
	if t.IsZero() {
		return "the member has not been seen yet"
	}
	return "the member was last seen at " + t.UTC().Format(time.RFC3339)
}

// findings are all statements of an observation, in no order. Where enough objects are healthy,
// others need not be.
func findings(o Observation, enough bool) []finding {
	var all []finding
	for _, p := range o.Problems {
		all = append(all, ofProblem(p))
	}
	for _, obj := range o.Objects {
		if enough && obj.reached() {
			continue
		}
		if f, ok := ofObject(obj, o.Paused); ok {
			all = append(all, f)
		}
	}
	return all
}

func ofProblem(p object.Problem) finding {
	state := v1alpha1.StateDegraded
	if p.Severity == object.Warning {
		state = v1alpha1.StateConverged // It holds nothing back, and is still to be seen.
	}
	return finding{state: state, reason: p.Reason, message: p.Message()}
}

// ofObject is what an object that does not count says; false for one that does.
func ofObject(o Object, paused bool) (finding, bool) {
	says := func(state v1alpha1.State, reason, message string) (finding, bool) {
		return finding{state, reason, o.ID.String() + ": " + message}, true
	}
	switch {
	case o.Problem != nil:
		return ofProblem(*o.Problem), true
	case (!o.Applied || o.Drifted) && paused:
		return says(v1alpha1.StatePaused, ReasonPaused, "is not written: writing is paused")
	case !o.Applied:
		return says(v1alpha1.StateProgressing, ReasonProgressing, cmp.Or(o.Waits, "is to be applied"))
	case o.Drifted:
		return says(v1alpha1.StateProgressing, ReasonProgressing, "was changed by others and is to be mended")
	case !o.Seen:
		return says(v1alpha1.StateProgressing, ReasonProgressing, "was applied and has not been seen since")
	case o.Health.Status == object.Failed:
		return says(v1alpha1.StateDegraded, ReasonFailed, o.Health.Message)
	case o.Health.Status != object.Current:
		return says(v1alpha1.StateProgressing, ReasonProgressing, cmp.Or(o.Health.Message, "is in progress"))
	}
	return finding{}, false
}

// compareFindings puts the worst first. Of two alike, a stable one is as good as any: the
// message must not change from pass to pass.
func compareFindings(a, b finding) int {
	return cmp.Or(
		CompareStates(a.state, b.state),
		// Nothing said comes after something said.
		-cmp.Compare(min(len(a.message), 1), min(len(b.message), 1)),
		cmp.Compare(a.message, b.message),
	)
}

// badness orders states, the worst first.
var badness = []v1alpha1.State{
	v1alpha1.StateDegraded, v1alpha1.StateUnknown, v1alpha1.StatePaused,
	v1alpha1.StateProgressing, v1alpha1.StateConverged,
}

// CompareStates puts the worst state first: what needs a person, what cannot be seen, what
// waits for a person, what is on its way, what is done.
func CompareStates(a, b v1alpha1.State) int {
	return cmp.Compare(slices.Index(badness, a), slices.Index(badness, b))
}

// problems are the worst problems, of the layer and of its objects.
func problems(o Observation) []v1alpha1.Problem {
	all := slices.Clone(o.Problems)
	for _, obj := range o.Objects {
		switch {
		case obj.Problem != nil:
			all = append(all, *obj.Problem)
		case obj.Health.Status == object.Failed:
			all = append(all, object.Problem{
				Severity: object.Error, Object: obj.ID, Reason: ReasonFailed, Detail: obj.Health.Message,
			})
		}
	}
	slices.SortFunc(all, object.CompareProblems)
	all = slices.Compact(all)
	var out []v1alpha1.Problem
	for _, p := range all[:min(len(all), MaxProblems)] {
		out = append(out, Problem(p))
	}
	return out
}

// Problem is a problem as the API has it.
func Problem(p object.Problem) v1alpha1.Problem {
	out := v1alpha1.Problem{
		Path:    Shorten(p.Path, 512),
		Reason:  p.Reason,
		Message: Shorten(p.Message(), 1024),
	}
	if p.Object.Name != "" {
		out.Object = Shorten(p.Object.String(), 512)
	}
	return out
}

// Shorten is the text within a limit in bytes, cut between characters.
func Shorten(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	cut := 0
	for i := range text {
		if i > limit-len(ellipsis) {
			break
		}
		cut = i
	}
	return text[:cut] + ellipsis
}
