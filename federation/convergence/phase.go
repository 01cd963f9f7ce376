package convergence

import (
	"fmt"
	"slices"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// always are the phases that can follow any other: they depend on what the member shows, on
// what is asked of the layer and on who may write, which change at any time.
var always = []v1alpha1.Phase{
	v1alpha1.PhasePending, v1alpha1.PhaseAwaitingApproval, v1alpha1.PhaseApplying, v1alpha1.PhaseVerifying,
	v1alpha1.PhaseConverged, v1alpha1.PhaseDegraded, v1alpha1.PhasePaused, v1alpha1.PhaseUnknown,
}

// successors are the phases that can follow a phase while the member is to have the same
// revision, in the same attempt. With another revision, or another attempt, any but TimedOut
// can follow any.
var successors = map[v1alpha1.Phase][]v1alpha1.Phase{
	"":                             always,
	v1alpha1.PhasePending:          always,
	v1alpha1.PhaseAwaitingApproval: always,
	v1alpha1.PhaseApplying:         append([]v1alpha1.Phase{v1alpha1.PhaseTimedOut}, given...),
	v1alpha1.PhaseVerifying:        append([]v1alpha1.Phase{v1alpha1.PhaseTimedOut}, given...),
	v1alpha1.PhaseDegraded:         append([]v1alpha1.Phase{v1alpha1.PhaseTimedOut}, given...),
	v1alpha1.PhasePaused:           append([]v1alpha1.Phase{v1alpha1.PhaseTimedOut}, always...),
	v1alpha1.PhaseUnknown:          append([]v1alpha1.Phase{v1alpha1.PhaseTimedOut}, always...),
	// What has converged has no deadline any more.
	v1alpha1.PhaseConverged: given,
	// The deadline does not come back; the layer may converge late.
	v1alpha1.PhaseTimedOut: {v1alpha1.PhaseTimedOut, v1alpha1.PhaseConverged, v1alpha1.PhasePaused, v1alpha1.PhaseUnknown},
}

// given are the phases of a revision that the member was given. It is not taken away again
// but by a rollback.
var given = []v1alpha1.Phase{
	v1alpha1.PhaseApplying, v1alpha1.PhaseVerifying, v1alpha1.PhaseConverged,
	v1alpha1.PhaseDegraded, v1alpha1.PhasePaused, v1alpha1.PhaseUnknown,
}

// outcomes are what can follow an outcome of the same wait. Each is reached once: only Retry
// comes again, in another attempt, and ends in Holding.
var outcomes = map[v1alpha1.Outcome][]v1alpha1.Outcome{
	"":                       {v1alpha1.OutcomeHolding, v1alpha1.OutcomeRolledBack, v1alpha1.OutcomeSkipped, v1alpha1.OutcomeRetrying},
	v1alpha1.OutcomeRetrying: {v1alpha1.OutcomeHolding},
}

// TransitionError is a step that the state machine must never take.
type TransitionError struct{ From, To string }

// Error implements error.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("convergence went from %s to %s, which must not happen", e.From, e.To)
}

// checkTransition holds the two tables against a step.
func checkTransition(old v1alpha1.LayerBindingStatus, p Progress) error {
	fresh := waitedFor(old) != p.waitedFor() || attempt(old.Wait) != attempt(p.Wait) && p.Wait != nil
	if fresh {
		if p.Phase == v1alpha1.PhaseTimedOut {
			return &TransitionError{describe(old.Phase, old.Wait), describe(p.Phase, p.Wait)}
		}
		return nil
	}
	samePhase := old.Phase == p.Phase || slices.Contains(successors[old.Phase], p.Phase)
	if !samePhase || !outcomeFollows(old.Wait, p.Wait) {
		return &TransitionError{describe(old.Phase, old.Wait), describe(p.Phase, p.Wait)}
	}
	return nil
}

// outcomeFollows says whether one wait can become the other. A wait ends, outcome and all, when
// the revision converges.
func outcomeFollows(before, after *v1alpha1.Wait) bool {
	if before == nil || after == nil || before.Outcome == after.Outcome {
		return true
	}
	return slices.Contains(outcomes[before.Outcome], after.Outcome)
}

// waitedFor is the revision that the status is about.
func waitedFor(status v1alpha1.LayerBindingStatus) string {
	if status.Wait != nil {
		return status.Wait.Revision
	}
	return status.Revision
}

func attempt(wait *v1alpha1.Wait) int32 {
	if wait == nil {
		return 0
	}
	return wait.Attempt
}

func describe(phase v1alpha1.Phase, wait *v1alpha1.Wait) string {
	text := string(phase)
	if phase == "" {
		text = "nothing"
	}
	if wait != nil && wait.Outcome != "" {
		text += " (" + string(wait.Outcome) + ")"
	}
	return text
}
