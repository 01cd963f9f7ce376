package assertion

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
)

// maxRolledBack is the API's limit of revisions that are remembered.
const maxRolledBack = 10

// Advance is the status of an assertion after a verdict: how it stands, since when, and
// whether its fallback is due, which is so from Acted on until the assertion holds again.
//
// The time until then is counted from when the assertion ceased to hold, and anew where it is
// edited before. A rollback asks for more: that the assertion has been False, and not merely
// Unknown, for all of that time, and that the layer's newest revision is no newer. Newest is that
// revision, and empty where the fallback is not Rollback or the layer is not there.
func (s *State) Advance(a *v1alpha1.StateAssertion, v Verdict, newest string, now metav1.Time) v1alpha1.StateAssertionStatus {
	status := stand(a.Status, v, now)
	if v.Answer == expression.True {
		status.FailingSince, status.Acted, status.Revision = nil, nil, ""
		return status
	}
	edited := status.Acted == nil && status.ObservedGeneration != a.Generation
	if status.FailingSince == nil || status.Revision != newest || edited {
		status.FailingSince, status.Acted = &now, nil
	}
	status.Revision = newest
	if due := s.due(a.Spec.Fallback, status); status.Acted == nil && !due.IsZero() && !now.Time.Before(due) {
		status.Acted = &now
	}
	return status
}

// Suspend is the status of an assertion that cannot be judged, since it cannot be read or selects
// nobody. What its fallback has done stays, and time does not count.
func Suspend(old v1alpha1.StateAssertionStatus, v Verdict, now metav1.Time) v1alpha1.StateAssertionStatus {
	status := stand(old, v, now)
	if status.Acted == nil {
		status.FailingSince = nil
	}
	return status
}

// stand is the status with how the assertion stands.
func stand(old v1alpha1.StateAssertionStatus, v Verdict, now metav1.Time) v1alpha1.StateAssertionStatus {
	status := *old.DeepCopy()
	holds := metav1.ConditionStatus(v.Answer)
	if status.Holds != holds || status.Since == nil {
		status.Holds, status.Since = holds, &now
	}
	status.Members = fmt.Sprintf("%d/%d", v.Observed, v.Members)
	status.Message = v.Message
	return status
}

// Due is when the fallback will be due if nothing changes; zero if it never will, or is
// already.
func (s *State) Due(fallback v1alpha1.AssertionFallback, status v1alpha1.StateAssertionStatus) time.Time {
	if status.Acted != nil {
		return time.Time{}
	}
	return s.due(fallback, status)
}

func (s *State) due(fallback v1alpha1.AssertionFallback, status v1alpha1.StateAssertionStatus) time.Time {
	if status.FailingSince == nil {
		return time.Time{}
	}
	since := status.FailingSince.Time
	if fallback.Action == v1alpha1.AssertionRollback {
		if status.Holds != metav1.ConditionFalse {
			return time.Time{}
		}
		if status.Since.After(since) {
			since = status.Since.Time
		}
	}
	return since.Add(s.Within)
}

// Remember adds a revision to those that were rolled back. The oldest of too many is
// forgotten.
func Remember(rolledBack []string, revision string) []string {
	if slices.Contains(rolledBack, revision) {
		return rolledBack
	}
	all := append(slices.Clone(rolledBack), revision)
	return all[max(0, len(all)-maxRolledBack):]
}

// Earlier is the newest revision of a layer's history, which is given newest first, that is
// neither its newest nor one that was rolled back; empty if there is none.
func Earlier(history []string, newest string, rolledBack []string) string {
	for _, revision := range history {
		if revision != newest && !slices.Contains(rolledBack, revision) {
			return revision
		}
	}
	return ""
}
