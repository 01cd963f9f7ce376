package convergence

import (
	"cmp"
	"fmt"
	"time"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Situation is what a step of the state machine looks at beside the old status.
type Situation struct {
	Choice
	// Verdict is on the revision that the member is given.
	Verdict Verdict
	Policy  Policy
	// Paused says that nothing may be written to the member: the times stand still.
	Paused bool
}

// given says whether the member is given what it should have.
func (s Situation) given() bool { return s.Given == s.Wanted }

// Progress is what follows for the status of the binding.
type Progress struct {
	Phase v1alpha1.Phase
	// Wait is nil once the revision has converged.
	Wait         *v1alpha1.Wait
	GoodRevision string
	// State, Reason and Message are the verdict's, and what the wait says beyond it.
	State           v1alpha1.State
	Reason, Message string
	// Due is when a step has to be taken again though nothing has changed; zero for never.
	Due time.Time
	// Notice is what people are to be told; nil for nothing new.
	Notice *Notice
	// Illegal is a step that the tables of this package do not know, a fault of this program;
	// nil as it should be.
	Illegal error

	wanted string
}

// Notice is an event for people.
type Notice struct {
	// Reason is a CamelCase word.
	Reason, Message string
	// Bad says that somebody may have to do something.
	Bad bool
}

func (p Progress) waitedFor() string { return p.wanted }

// Advance takes the step that is due at a time. The same arguments give the same progress, and
// the status that follows from it gives the same again, so that a step is taken once, whoever
// takes it and however often.
func Advance(old v1alpha1.LayerBindingStatus, s Situation, now time.Time) Progress {
	v := s.Verdict
	p := Progress{
		Phase: phaseOf(v), GoodRevision: old.GoodRevision, wanted: s.Wanted,
		State: v.State, Reason: v.Reason, Message: v.Message,
	}
	if old.Wait != nil && old.Wait.Revision == s.Wanted {
		p.Wait = old.Wait.DeepCopy()
	}
	switch {
	case s.Excluded != "":
		p.leaveOut(s)
	case s.Barrier != nil:
		p.keepBack(s)
	case !s.given():
		p.clock(s, now)
		p.fallen(s)
	case v.State == v1alpha1.StateConverged:
		p.arrive(s)
	case p.GoodRevision == s.Wanted:
		p.lose()
	default:
		p.await(s, now)
	}
	p.Illegal = checkTransition(old, p)
	return p
}

// phaseOf is the phase that a verdict alone speaks of.
func phaseOf(v Verdict) v1alpha1.Phase {
	switch {
	case v.State == v1alpha1.StateConverged:
		return v1alpha1.PhaseConverged
	case v.State == v1alpha1.StateUnknown:
		return v1alpha1.PhaseUnknown
	case v.State == v1alpha1.StatePaused:
		return v1alpha1.PhasePaused
	case v.State == v1alpha1.StateDegraded:
		return v1alpha1.PhaseDegraded
	case v.Written:
		return v1alpha1.PhaseVerifying
	}
	return v1alpha1.PhaseApplying
}

// keepBack is for a revision that a barrier keeps from the member. Its time has not begun. What
// is wrong with what the member has is said before that.
func (p *Progress) keepBack(s Situation) {
	p.Wait = &v1alpha1.Wait{Revision: s.Wanted}
	if p.State == v1alpha1.StateUnknown {
		return
	}
	p.Phase = s.Barrier.Phase
	if p.State == v1alpha1.StateDegraded {
		return
	}
	p.State, p.Reason, p.Message = v1alpha1.StateProgressing, s.Barrier.Reason, s.Barrier.Message
	if p.Phase == v1alpha1.PhaseAwaitingApproval {
		p.State = v1alpha1.StatePaused
	}
}

// leaveOut is for a layer that does not apply to the member: it has converged there when all that
// it had there is gone.
func (p *Progress) leaveOut(s Situation) {
	p.Wait, p.GoodRevision = nil, ""
	switch p.State {
	case v1alpha1.StateConverged:
		p.Reason, p.Message = ReasonNotApplicable, s.Excluded
	case v1alpha1.StateProgressing:
		p.Reason = ReasonNotApplicable
	}
}

// Unwaited is the progress where nothing is waited for: of a layer that leaves the member, and of
// one that has converged and whose next step is yet to be taken.
func Unwaited(old v1alpha1.LayerBindingStatus, v Verdict) Progress {
	return Progress{Phase: phaseOf(v), GoodRevision: old.GoodRevision, State: v.State, Reason: v.Reason, Message: v.Message}
}

// arrive is for a revision that has converged, be it late.
func (p *Progress) arrive(s Situation) {
	if p.Wait != nil && p.Wait.Outcome != "" {
		p.Notice = &Notice{Reason: "ConvergedLate", Message: fmt.Sprintf("revision %s has converged after its deadline (%s)", s.Wanted, p.Wait.Outcome)}
	}
	p.Wait, p.GoodRevision = nil, s.Wanted
}

// lose is for a revision that had converged: it has no deadline any more. What was asserted of
// it and is no longer so needs a person.
func (p *Progress) lose() {
	p.Wait = nil
	if p.Reason == ReasonAssertionFailed {
		p.State, p.Phase = v1alpha1.StateDegraded, v1alpha1.PhaseDegraded
	}
}

// await is for a revision that the member is given and that has not converged.
func (p *Progress) await(s Situation, now time.Time) {
	if p.Wait == nil || p.Wait.Started == nil {
		p.Wait = &v1alpha1.Wait{Revision: s.Wanted, Attempt: 1}
		begin(p.Wait, now)
	}
	p.clock(s, now)
	if p.Wait.Outcome == "" || p.Wait.Outcome == v1alpha1.OutcomeRetrying {
		p.watchDeadlines(s, now)
	}
	p.fallen(s)
}

// watchDeadlines acts on deadlines that have passed. While the member, or a part of it, cannot be
// seen, nothing is decided: it would be from what is old.
func (p *Progress) watchDeadlines(s Situation, now time.Time) {
	wait := p.Wait
	if wait.StoppedAt != nil {
		return
	}
	schedule(wait, s.Policy)
	blind := p.State == v1alpha1.StateUnknown || s.Verdict.Blind
	switch {
	case now.Before(wait.PendingAt.Time) && !wait.Slow:
		p.Due = wait.PendingAt.Time
	case now.Before(wait.TimeoutAt.Time):
		p.Due = wait.TimeoutAt.Time
		if !wait.Slow {
			wait.Slow = true
			p.Notice = &Notice{Reason: "ConvergencePending", Bad: true, Message: fmt.Sprintf("revision %s takes longer than %s: %s",
				wait.Revision, s.Policy.PendingAfter, p.cause())}
		}
	case !blind:
		p.fallBack(s, now)
	}
}

// cause is what holds the revision now.
func (p *Progress) cause() string { return cmp.Or(p.Message, string(p.State)) }

// fallBack does what the layer asks for when a deadline has passed. It is the one place in which
// an outcome is decided.
func (p *Progress) fallBack(s Situation, now time.Time) {
	wait, at := p.Wait, timeOf(now)
	wait.Cause, wait.OutcomeAt, wait.Slow = Shorten(p.cause(), 1024), &at, true
	again := wait.Attempt <= s.Policy.Retries
	switch {
	case s.Policy.Fallback == v1alpha1.FallbackRollback && p.GoodRevision != "":
		wait.Outcome = v1alpha1.OutcomeRolledBack
	case s.Policy.Fallback == v1alpha1.FallbackRollback:
		wait.Outcome = v1alpha1.OutcomeHolding
		wait.Cause = Shorten("there is no earlier revision that converged on this member to go back to; "+wait.Cause, 1024)
	case s.Policy.Fallback == v1alpha1.FallbackSkip:
		wait.Outcome = v1alpha1.OutcomeSkipped
	case s.Policy.Fallback == v1alpha1.FallbackRetry && again:
		wait.Outcome = v1alpha1.OutcomeRetrying
		wait.Attempt++
		begin(wait, now)
		schedule(wait, s.Policy)
		p.Due = wait.PendingAt.Time
	default:
		wait.Outcome = v1alpha1.OutcomeHolding
	}
	p.Notice = &Notice{Reason: string(wait.Outcome), Bad: true, Message: p.verdictOfWait(s)}
}

// fallen is what the wait says of a revision whose deadline has passed. A member that cannot
// be seen, or may not be written to, is said first.
func (p *Progress) fallen(s Situation) {
	if p.Wait.Outcome == "" || p.Wait.Outcome == v1alpha1.OutcomeRetrying {
		return
	}
	if p.State == v1alpha1.StateUnknown || p.State == v1alpha1.StatePaused {
		return
	}
	message := p.verdictOfWait(s)
	if !s.given() && p.State != v1alpha1.StateConverged {
		message += "; " + s.Given + " has not converged again: " + p.cause()
	}
	p.Phase, p.State = v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded
	p.Reason, p.Message = string(p.Wait.Outcome), Shorten(message, 1024)
}

// verdictOfWait says what was done, why, and the way out.
func (p *Progress) verdictOfWait(s Situation) string {
	what := map[v1alpha1.Outcome]string{
		v1alpha1.OutcomeHolding:    "is held until it converges or a newer one comes",
		v1alpha1.OutcomeRolledBack: "was rolled back to " + p.GoodRevision + "; change the layer to go on",
		v1alpha1.OutcomeSkipped:    "is skipped: layers above go on without it",
		v1alpha1.OutcomeRetrying:   fmt.Sprintf("is tried again (attempt %d of %d)", p.Wait.Attempt, s.Policy.Retries+1),
	}[p.Wait.Outcome]
	return fmt.Sprintf("revision %s did not converge in time and %s: %s", p.Wait.Revision, what, p.Wait.Cause)
}
