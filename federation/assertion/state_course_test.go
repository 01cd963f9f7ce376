package assertion_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/expression"
)

// course is the life of one assertion, whose status is stored and read again at each step.
type course struct {
	*testing.T
	assertion *v1alpha1.StateAssertion
	state     *assertion.State
	now       time.Time
}

func newCourse(t *testing.T, action v1alpha1.AssertionAction) *course {
	t.Helper()
	a := stated(sameCertificate)
	a.Spec.Fallback.Action = action
	a.Status.ObservedGeneration = a.Generation
	return &course{T: t, assertion: a, state: compileState(t, a), now: midday}
}

// after lets time pass, judges, and stores the status. The fallback has to be due or not.
func (c *course) after(d time.Duration, answer expression.Answer, newest string, due bool) {
	c.Helper()
	c.now = c.now.Add(d)
	c.assertion.Status = c.state.Advance(c.assertion, assertion.Verdict{Answer: answer}, newest, metav1.NewTime(c.now))
	c.assertion.Status.ObservedGeneration = c.assertion.Generation
	c.is(due)
}

func (c *course) is(due bool) {
	c.Helper()
	if status := c.assertion.Status; (status.Acted != nil) != due {
		c.Fatalf("at %s the fallback is due: %t; want %t; failing since %v", c.now.Sub(midday), !due, due, status.FailingSince)
	}
}

// dueIn checks for how long the fallback is still to come; never, if zero.
func (c *course) dueIn(d time.Duration) {
	c.Helper()
	at := c.state.Due(c.assertion.Spec.Fallback, c.assertion.Status)
	if d == 0 && !at.IsZero() || d > 0 && !at.Equal(c.now.Add(d)) {
		c.Fatalf("due at %s, %s from now; want %s", at, at.Sub(c.now), d)
	}
}

func TestFallbackIsDueWhenTheAssertionHasNotHeldForLong(t *testing.T) {
	c := newCourse(t, v1alpha1.AssertionHold)
	c.after(0, expression.True, "", false)
	c.dueIn(0)
	c.after(time.Minute, expression.False, "", false)
	c.dueIn(2 * time.Minute)
	c.after(time.Minute, expression.Unknown, "", false)
	c.dueIn(time.Minute)
	c.after(time.Minute, expression.False, "", true)
	c.dueIn(0)
	c.after(time.Hour, expression.Unknown, "", true)
	c.after(time.Minute, expression.True, "", false)
	c.after(time.Minute, expression.False, "", false)
	c.dueIn(2 * time.Minute)
}

func TestEditBeginsTheTimeAnewUnlessTheFallbackWasCarriedOut(t *testing.T) {
	c := newCourse(t, v1alpha1.AssertionHold)
	c.after(0, expression.False, "", false)
	c.assertion.Generation++
	c.after(119*time.Second, expression.Unknown, "", false)
	c.dueIn(2 * time.Minute)
	c.after(2*time.Minute, expression.Unknown, "", true)
	c.assertion.Generation++
	c.after(time.Second, expression.Unknown, "", true)
}

func TestRollbackAsksForFalseAllTheTime(t *testing.T) {
	c := newCourse(t, v1alpha1.AssertionRollback)
	c.after(0, expression.False, "r1", false)
	c.dueIn(2 * time.Minute)
	c.after(time.Minute, expression.Unknown, "r1", false)
	c.dueIn(0)
	c.after(time.Hour, expression.Unknown, "r1", false)
	c.after(time.Second, expression.False, "r1", false)
	c.dueIn(2 * time.Minute)
	c.after(2*time.Minute, expression.False, "r1", true)
}

func TestRollbackGivesANewerRevisionItsOwnTime(t *testing.T) {
	c := newCourse(t, v1alpha1.AssertionRollback)
	c.after(0, expression.False, "r1", false)
	c.after(119*time.Second, expression.False, "r2", false)
	c.dueIn(2 * time.Minute)
	c.after(2*time.Minute, expression.False, "r2", true)
	c.after(time.Second, expression.False, "r3", false)
	c.after(2*time.Minute, expression.False, "r3", true)
}

func TestTimeStandsStillWhileNothingCanBeJudged(t *testing.T) {
	c := newCourse(t, v1alpha1.AssertionHold)
	suspend := func() {
		c.now = c.now.Add(time.Hour)
		c.assertion.Status = assertion.Suspend(c.assertion.Status, assertion.Verdict{Answer: expression.Unknown}, metav1.NewTime(c.now))
	}
	c.after(0, expression.False, "", false)
	suspend()
	c.is(false)
	c.after(0, expression.False, "", false)
	c.dueIn(2 * time.Minute)
	c.after(2*time.Minute, expression.False, "", true)
	suspend()
	c.is(true)
}

func TestSinceIsWhenTheAnswerChanged(t *testing.T) {
	c := newCourse(t, v1alpha1.AssertionReport)
	for _, step := range []struct {
		answer expression.Answer
		since  time.Duration
	}{
		{expression.Unknown, time.Minute},
		{expression.Unknown, time.Minute},
		{expression.True, 3 * time.Minute},
		{expression.True, 3 * time.Minute},
		{expression.False, 5 * time.Minute},
	} {
		c.after(time.Minute, step.answer, "", false)
		status := c.assertion.Status
		if got := status.Since.Sub(midday); got != step.since || status.Holds != metav1.ConditionStatus(step.answer) {
			t.Errorf("%s since %s, want %s since %s", status.Holds, got, step.answer, step.since)
		}
	}
}

func TestWhatToReturnTo(t *testing.T) {
	for _, c := range []struct {
		history, rolledBack []string
		want                string
	}{
		{nil, nil, ""},
		{[]string{"r3"}, nil, ""},
		{[]string{"r3", "r2", "r1"}, nil, "r2"},
		{[]string{"r3", "r2", "r1"}, []string{"r2"}, "r1"},
		{[]string{"r3", "r2"}, []string{"r2"}, ""},
	} {
		if got := assertion.Earlier(c.history, "r3", c.rolledBack); got != c.want {
			t.Errorf("of %v without %v: %q, want %q", c.history, c.rolledBack, got, c.want)
		}
	}
}

func TestRememberedRevisionsAreBounded(t *testing.T) {
	var remembered, given []string
	for i := range 12 {
		revision := string(rune('a' + i))
		given = append(given, revision)
		remembered = assertion.Remember(assertion.Remember(remembered, revision), revision)
	}
	if !slices.Equal(remembered, given[2:]) {
		t.Errorf("remembers %v, want %v", remembered, given[2:])
	}
}
