package convergence

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Statement is a state and the words for it.
type Statement struct {
	State v1alpha1.State
	// Reason is a CamelCase word.
	Reason string
	// Message may be empty.
	Message string
	// Generation is that of the object whose conditions these are.
	Generation int64
}

// Conditions are the old ones with what the statement says: Converged, and, while true,
// Reconciling and Stalled. As kstatus has it, an object that has not converged always has
// one of the latter two. A condition's time changes with its status alone. Conditions of
// other types stay; the argument is not changed.
func Conditions(old []metav1.Condition, s Statement, now metav1.Time) []metav1.Condition {
	conditions := slices.Clone(old)
	converged, activity := words(s.State)
	put := func(kind string, status metav1.ConditionStatus) {
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type:               kind,
			Status:             status,
			ObservedGeneration: s.Generation,
			LastTransitionTime: now,
			Reason:             cmp.Or(s.Reason, string(s.State)),
			Message:            s.Message,
		})
	}
	put(v1alpha1.ConditionConverged, converged)
	for _, kind := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if kind == activity {
			put(kind, metav1.ConditionTrue)
		} else {
			meta.RemoveStatusCondition(&conditions, kind)
		}
	}
	return conditions
}

// words are the status of Converged and which other condition is true.
func words(state v1alpha1.State) (converged metav1.ConditionStatus, activity string) {
	switch state {
	case v1alpha1.StateConverged:
		return metav1.ConditionTrue, ""
	case v1alpha1.StateDegraded:
		return metav1.ConditionFalse, v1alpha1.ConditionStalled
	case v1alpha1.StateUnknown:
		return metav1.ConditionUnknown, v1alpha1.ConditionReconciling
	}
	return metav1.ConditionFalse, v1alpha1.ConditionReconciling
}

// Since is when the state began: now, if it is another than before.
func Since(oldState, state v1alpha1.State, old *metav1.Time, now metav1.Time) *metav1.Time {
	if old != nil && oldState == state {
		return old
	}
	return &now
}
