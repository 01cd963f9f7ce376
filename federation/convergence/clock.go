package convergence

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// timeOf is a time as the API keeps it: in whole seconds, and never before it.
func timeOf(t time.Time) metav1.Time {
	whole := t.Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return metav1.NewTime(whole)
}

// begin starts the times of an attempt.
func begin(wait *v1alpha1.Wait, now time.Time) {
	started := timeOf(now)
	wait.Started, wait.Slow = &started, false
}

// schedule computes the deadlines from the start, so that an edit of the layer moves them.
func schedule(wait *v1alpha1.Wait, policy Policy) {
	pending, timeout := timeOf(wait.Started.Add(policy.PendingAfter)), timeOf(wait.Started.Add(policy.Timeout))
	wait.PendingAt, wait.TimeoutAt = &pending, &timeout
}

// clock stops the times of a wait while the member is paused, or cannot be seen where that is
// tolerated, and lets them go on where they were.
func (p *Progress) clock(s Situation, now time.Time) {
	wait := p.Wait
	stands := s.Paused || s.Policy.TolerateUnknown && p.State == v1alpha1.StateUnknown
	switch {
	case wait.Started == nil || wait.StoppedAt == nil && !stands:
	case stands && wait.StoppedAt == nil:
		at := timeOf(now)
		wait.StoppedAt = &at
	case !stands:
		stood := max(now.Sub(wait.StoppedAt.Time), 0)
		for _, at := range []**metav1.Time{&wait.Started, &wait.PendingAt, &wait.TimeoutAt} {
			if *at != nil {
				later := timeOf((*at).Add(stood))
				*at = &later
			}
		}
		wait.StoppedAt = nil
	}
}
