package convergence

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Barrier is why a member is not given a new revision of a layer yet.
type Barrier struct {
	// Phase is Pending or AwaitingApproval.
	Phase v1alpha1.Phase
	// Reason is a CamelCase word.
	Reason string
	// Message says what the revision waits for, and the way out.
	Message string
	// Instead is the revision for a member that has none; empty for none.
	Instead string
}

// Choice is the revision of a layer that a member is given, and the one that it should have.
type Choice struct {
	// Wanted is the revision that the member should have, Given the one that it is to have now;
	// empty for none.
	Wanted, Given string
	// Barrier is why the two differ where it is not the outcome of a wait; nil otherwise.
	Barrier *Barrier
	// Excluded is why the layer does not apply to the member; empty if it does.
	Excluded string
}

// Choose decides which revision a member is given. A revision that was rolled back there is not
// given again; one that a barrier keeps back leaves the member what it has. A barrier takes
// nothing away that has been given. A member that is excluded is given nothing.
func Choose(wanted string, status v1alpha1.LayerBindingStatus, barrier *Barrier, excluded string) Choice {
	choice := Choice{Wanted: wanted, Given: wanted, Excluded: excluded}
	switch {
	case excluded != "":
		choice.Given = ""
	case rolledBack(status.Wait, wanted):
		choice.Given = status.GoodRevision
	case barrier != nil && status.Revision != wanted:
		choice.Given, choice.Barrier = cmp.Or(status.Revision, barrier.Instead), barrier
	}
	return choice
}

// Excludes says whether the layer did not apply to the member by the status of its binding.
func Excludes(status v1alpha1.LayerBindingStatus) bool {
	converged := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionConverged)
	return status.Revision == "" && converged != nil && converged.Reason == ReasonNotApplicable
}

func rolledBack(wait *v1alpha1.Wait, revision string) bool {
	return wait != nil && wait.Revision == revision && wait.Outcome == v1alpha1.OutcomeRolledBack
}

// Settled says whether layers above a Strict layer may go on, by the status of its binding: what
// the member should have has converged there, or was given up by Skip. Where a barrier keeps a
// revision back, the one before it counts.
func Settled(c Choice, status v1alpha1.LayerBindingStatus) bool {
	if c.Excluded != "" {
		return true
	}
	if wait := status.Wait; wait != nil && wait.Revision == c.Wanted && wait.Outcome == v1alpha1.OutcomeSkipped {
		return true
	}
	if c.Barrier != nil {
		return c.Given != "" && c.Given == status.GoodRevision
	}
	return status.Phase == v1alpha1.PhaseConverged && status.Revision == c.Wanted
}
