package convergence

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
)

// life is a binding that goes through time as the hub would keep it.
type life struct {
	*testing.T
	status  v1alpha1.LayerBindingStatus
	now     time.Time
	policy  Policy
	wanted  string
	barrier *Barrier
	paused  bool
	notices []string
}

func newLife(t *testing.T, fallback v1alpha1.Fallback) *life {
	policy, err := PolicyFor(&v1alpha1.ConvergencePolicy{
		ConvergenceTimes: v1alpha1.ConvergenceTimes{Timeout: &metav1.Duration{Duration: time.Minute}},
		Fallback:         fallback, Retries: ptr.To[int32](2),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &life{T: t, now: t0.Time, policy: policy, wanted: "r1"}
}

// verdicts of what the member is given.
var (
	good    = Verdict{State: v1alpha1.StateConverged, Reason: ReasonConverged, Written: true}
	rolls   = Verdict{State: v1alpha1.StateProgressing, Reason: ReasonProgressing, Message: "Deployment shop/web: 0 of 1 replicas ready", Written: true}
	sends   = Verdict{State: v1alpha1.StateProgressing, Reason: ReasonProgressing, Message: "Deployment shop/web: is to be applied"}
	broken  = Verdict{State: v1alpha1.StateDegraded, Reason: ReasonFailed, Message: "Deployment shop/web: gave up", Written: true}
	stopped = Verdict{State: v1alpha1.StatePaused, Reason: ReasonPaused, Message: "is not written: writing is paused"}
	unknown = Verdict{State: v1alpha1.StateUnknown, Reason: ReasonUnreachable, Message: "the member was last seen at noon"}
	asserts = Verdict{State: v1alpha1.StateProgressing, Reason: ReasonAssertionFailed, Message: "assertion on-v2: 3 of 4", Written: true}
)

// pass is one pass some time later; the verdict is on the revision that is given. The step is taken
// twice, as after a crash, and the second decides nothing.
func (l *life) pass(later time.Duration, verdict Verdict) Progress {
	l.Helper()
	l.now = l.now.Add(later)
	once := l.step(verdict)
	kept, notices := l.status, l.notices
	l.step(verdict)
	same := l.status.Phase == kept.Phase && l.status.State == kept.State && reflect.DeepEqual(l.status.Wait, kept.Wait)
	if !same || len(l.notices) != len(notices) {
		l.Fatalf("the second step of one pass changes\n%+v\nto\n%+v", kept, l.status)
	}
	return once
}

func (l *life) step(verdict Verdict) Progress {
	choice := Choose(l.wanted, l.status, l.barrier, "")
	verdict.Revision = choice.Given
	p := Advance(l.status, Situation{Choice: choice, Verdict: verdict, Policy: l.policy, Paused: l.paused}, l.now)
	if p.Illegal != nil {
		l.Fatalf("%v: from %+v with %+v", p.Illegal, l.status, verdict)
	}
	if p.Notice != nil {
		l.notices = append(l.notices, p.Notice.Reason)
	}
	status := Record(l.status, verdict, p, 1, timeOf(l.now))
	checkConditions(l.T, status.Conditions, status.State)
	stored, err := json.Marshal(status)
	if err != nil {
		l.Fatal(err)
	}
	l.status = v1alpha1.LayerBindingStatus{}
	if err := json.Unmarshal(stored, &l.status); err != nil {
		l.Fatal(err)
	}
	return p
}

// is checks where the binding stands.
func (l *life) is(phase v1alpha1.Phase, state v1alpha1.State, outcome v1alpha1.Outcome) {
	l.Helper()
	var got v1alpha1.Outcome
	if l.status.Wait != nil {
		got = l.status.Wait.Outcome
	}
	if l.status.Phase != phase || l.status.State != state || got != outcome {
		l.Fatalf("stands at %s, %s, outcome %q (%s), want %s, %s, %q", l.status.Phase, l.status.State, got, l.status.Message, phase, state, outcome)
	}
}

func (l *life) given() string { return Choose(l.wanted, l.status, l.barrier, "").Given }

func (l *life) settled() bool { return Settled(Choose(l.wanted, l.status, l.barrier, ""), l.status) }

func TestARevisionConverges(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackHold)
	l.pass(0, sends)
	l.is(v1alpha1.PhaseApplying, v1alpha1.StateProgressing, "")
	if p := l.pass(time.Second, rolls); !p.Due.Equal(t0.Add(30 * time.Second)) {
		t.Errorf("due at %v", p.Due)
	}
	l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
	l.pass(time.Second, asserts)
	l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
	l.pass(time.Second, good)
	l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
	if l.status.Wait != nil || l.status.GoodRevision != "r1" || len(l.notices) > 0 {
		t.Errorf("%+v, told %v", l.status, l.notices)
	}
	// What has converged has no deadline any more.
	l.pass(time.Hour, rolls)
	l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
	l.pass(time.Hour, asserts)
	l.is(v1alpha1.PhaseDegraded, v1alpha1.StateDegraded, "")
	l.pass(time.Second, good)
	l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
}

func TestFallbacks(t *testing.T) {
	for fallback, c := range map[v1alpha1.Fallback]struct {
		outcome v1alpha1.Outcome
		given   string
		settled bool
	}{
		v1alpha1.FallbackHold:     {v1alpha1.OutcomeHolding, "r2", false},
		v1alpha1.FallbackRollback: {v1alpha1.OutcomeRolledBack, "r1", false},
		v1alpha1.FallbackSkip:     {v1alpha1.OutcomeSkipped, "r2", true},
	} {
		t.Run(string(fallback), func(t *testing.T) {
			l := newLife(t, fallback)
			l.pass(0, good)
			l.wanted = "r2"
			l.pass(time.Second, sends)
			l.pass(30*time.Second, rolls)
			l.pass(29*time.Second, broken)
			l.is(v1alpha1.PhaseDegraded, v1alpha1.StateDegraded, "")
			l.pass(time.Second, broken)
			l.is(v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded, c.outcome)
			if !strings.Contains(l.status.Message, "gave up") || l.given() != c.given || l.settled() != c.settled {
				t.Errorf("given %s, settled %v: %s", l.given(), l.settled(), l.status.Message)
			}
			for range 5 {
				l.pass(time.Hour, rolls)
			}
			if want := []string{"ConvergencePending", string(c.outcome)}; !reflect.DeepEqual(l.notices, want) {
				t.Errorf("told %v, want %v", l.notices, want)
			}
			l.wanted = "r3"
			l.pass(time.Second, good)
			l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
		})
	}
}

func TestWhatIsRolledBackStaysSo(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackRollback)
	l.pass(0, good)
	l.wanted = "r2"
	l.pass(0, rolls)
	l.pass(time.Minute, rolls)
	l.pass(time.Second, good) // of r1
	l.is(v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded, v1alpha1.OutcomeRolledBack)
	if l.status.Revision != "r1" || l.status.GoodRevision != "r1" {
		t.Errorf("%+v", l.status)
	}
	l.wanted = "r1" // a person goes back
	l.pass(time.Second, good)
	l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
	l.wanted = "r2" // and wants it all the same
	l.pass(time.Second, good)
	l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
}

func TestRollbackWithoutAGoodRevisionHolds(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackRollback)
	l.pass(0, rolls)
	l.pass(time.Minute, rolls)
	l.is(v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded, v1alpha1.OutcomeHolding)
	if !strings.Contains(l.status.Message, "no earlier revision") {
		t.Error(l.status.Message)
	}
	l.pass(time.Minute, good)
	l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
	if last := l.notices[len(l.notices)-1]; last != "ConvergedLate" {
		t.Errorf("told %v", l.notices)
	}
}

func TestRetryIsBounded(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackRetry)
	l.pass(0, rolls)
	for attempt := int32(2); attempt <= 3; attempt++ {
		l.pass(time.Minute, rolls)
		l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, v1alpha1.OutcomeRetrying)
		if l.status.Wait.Attempt != attempt {
			t.Fatalf("attempt %d", l.status.Wait.Attempt)
		}
	}
	l.pass(time.Minute, rolls)
	l.is(v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded, v1alpha1.OutcomeHolding)
}

func TestTimesStandStillWhilePaused(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackHold)
	l.pass(0, sends)
	l.paused = true
	l.pass(20*time.Second, stopped)
	l.is(v1alpha1.PhasePaused, v1alpha1.StatePaused, "")
	l.pass(time.Hour, stopped)
	l.paused = false
	l.pass(time.Second, rolls)
	l.pass(39*time.Second, rolls)
	l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
	l.pass(time.Second, rolls)
	l.is(v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded, v1alpha1.OutcomeHolding)
}

func TestNothingIsDecidedAboutAMemberThatCannotBeSeen(t *testing.T) {
	for _, tolerant := range []bool{false, true} {
		l := newLife(t, v1alpha1.FallbackHold)
		l.policy.TolerateUnknown = tolerant
		l.pass(0, sends)
		l.pass(time.Second, unknown)
		l.pass(time.Hour, unknown)
		l.is(v1alpha1.PhaseUnknown, v1alpha1.StateUnknown, "")
		back := rolls
		back.Blind = true // its watches have not caught up yet
		l.pass(time.Second, back)
		l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
		l.pass(time.Second, rolls)
		if tolerant {
			l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
		} else {
			l.is(v1alpha1.PhaseTimedOut, v1alpha1.StateDegraded, v1alpha1.OutcomeHolding)
		}
	}
}

func TestABarrierKeepsTheNewAndTakesNothing(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackHold)
	l.pass(0, good)
	l.wanted = "r2"
	l.barrier = &Barrier{Phase: v1alpha1.PhasePending, Reason: "WaitsForLayer", Message: "waits for layer base"}
	l.pass(time.Second, good)
	l.is(v1alpha1.PhasePending, v1alpha1.StateProgressing, "")
	if l.given() != "r1" || l.status.Wait.Started != nil || l.status.Message != "waits for layer base" {
		t.Errorf("given %s: %+v", l.given(), l.status)
	}
	l.pass(time.Hour, good)
	l.barrier = nil
	l.pass(0, rolls) // its time begins now
	l.pass(59*time.Second, rolls)
	l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "")
	l.barrier = &Barrier{Phase: v1alpha1.PhaseAwaitingApproval, Reason: "AwaitingApproval", Message: "approve it"}
	l.pass(0, rolls)
	l.is(v1alpha1.PhaseVerifying, v1alpha1.StateProgressing, "") // what is given is given
	l.wanted = "r3"
	l.pass(0, rolls)
	l.is(v1alpha1.PhaseAwaitingApproval, v1alpha1.StatePaused, "")
}

// A bad revision and a good one soon after, over and over: it always ends well, and no deadline of
// the one is taken for the other's.
func TestTheNewerRevisionSupersedesTheWait(t *testing.T) {
	l := newLife(t, v1alpha1.FallbackRollback)
	l.pass(0, good)
	for range 50 {
		l.wanted = "bad"
		l.pass(time.Second, rolls)
		l.wanted = "fine"
		l.pass(57*time.Second, sends)
		l.pass(5*time.Second, good)
		l.is(v1alpha1.PhaseConverged, v1alpha1.StateConverged, "")
	}
}

// Whatever happens in whatever order, no step is illegal, nothing is decided twice, and a rollback goes
// to a revision that has converged.
func TestRandomLives(t *testing.T) {
	fallbacks := []v1alpha1.Fallback{v1alpha1.FallbackHold, v1alpha1.FallbackRollback, v1alpha1.FallbackSkip, v1alpha1.FallbackRetry}
	verdicts := []Verdict{good, rolls, sends, broken, unknown, asserts}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 5))
		l := newLife(t, fallbacks[random.IntN(len(fallbacks))])
		l.policy.TolerateUnknown = random.IntN(2) == 0
		converged, decided := map[string]bool{}, map[string]int{}
		for range 60 {
			switch random.IntN(10) {
			case 0:
				l.wanted = "r" + string(rune('1'+random.IntN(4)))
				clear(decided)
			case 1:
				l.barrier = &Barrier{Phase: v1alpha1.PhasePending, Reason: "WaitsForLayer", Message: "waits"}
			case 2:
				l.barrier = nil
			case 3:
				l.paused = !l.paused
			}
			verdict := verdicts[random.IntN(len(verdicts))]
			if l.paused && verdict.State == v1alpha1.StateProgressing && !verdict.Written {
				verdict = stopped
			}
			before := len(l.notices)
			given := l.given()
			p := l.pass(time.Duration(random.IntN(40000))*time.Millisecond, verdict)
			if p.Phase == v1alpha1.PhaseConverged {
				converged[given] = true
			}
			for _, told := range l.notices[before:] {
				if told == string(v1alpha1.OutcomeHolding) || told == string(v1alpha1.OutcomeRolledBack) || told == string(v1alpha1.OutcomeSkipped) {
					if decided[l.wanted]++; decided[l.wanted] > 1 {
						t.Fatalf("seed %d: decided twice about %s: %v", seed, l.wanted, l.notices)
					}
				}
			}
			if rolledBack(l.status.Wait, l.wanted) && !converged[l.given()] {
				t.Fatalf("seed %d: rolled back to %s, which never converged", seed, l.given())
			}
		}
	}
}

func TestPolicyForRelaxes(t *testing.T) {
	edge := metav1.LabelSelector{MatchLabels: map[string]string{"site": "edge"}}
	spec := &v1alpha1.ConvergencePolicy{Relaxations: []v1alpha1.Relaxation{
		{ClusterSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Odd"}}}},
		{ClusterSelector: edge, ConvergenceTimes: v1alpha1.ConvergenceTimes{Timeout: &metav1.Duration{Duration: 10 * time.Second}}, MinHealthyPercent: ptr.To[int32](90), TolerateUnknown: true},
	}}
	policy, err := PolicyFor(spec, map[string]string{"site": "edge"})
	want := Policy{10 * time.Second, 10 * time.Second, v1alpha1.FallbackHold, 3, 90, true}
	if policy != want || err == nil || !strings.Contains(err.Error(), "relaxations[0].clusterSelector") {
		t.Errorf("%+v, %v", policy, err)
	}
	if policy, _ = PolicyFor(spec, nil); policy.Timeout != DefaultTimeout || policy.MinHealthyPercent != 100 {
		t.Errorf("elsewhere: %+v", policy)
	}
}

func TestAssertionsCountOnceTheObjectsHaveConverged(t *testing.T) {
	fails := Assertion{Name: "on-v2", Answer: expression.False, Message: "3 of 4"}
	open := Assertion{Name: "seen", Answer: expression.Unknown, Message: "the pods cannot be listed"}
	holds := Assertion{Name: "fine", Answer: expression.True}
	rolling := but("b", func(o *Object) { o.Health.Status, o.Health.Message = "InProgress", "rolls" })
	for name, c := range map[string]struct {
		o    Observation
		want string
	}{
		"all hold":           {Observation{Objects: []Object{done("a")}, Assertions: []Assertion{holds}}, "Converged 1/1"},
		"one is false":       {Observation{Objects: []Object{done("a")}, Assertions: []Assertion{holds, open, fails}}, "Progressing 1/1: assertion on-v2: 3 of 4"},
		"one is unknown":     {Observation{Objects: []Object{done("a")}, Assertions: []Assertion{open, holds}}, "Progressing 1/1: assertion seen: the pods cannot be listed"},
		"not yet":            {Observation{Objects: []Object{rolling}, Assertions: []Assertion{fails}}, "Progressing 0/1: Deployment shop/b: rolls"},
		"enough are healthy": {Observation{Objects: []Object{done("a"), rolling}, MinHealthyPercent: 50}, "Converged 1/2"},
		"too few are":        {Observation{Objects: []Object{done("a"), rolling}, MinHealthyPercent: 51}, "Progressing 1/2: Deployment shop/b: rolls"},
	} {
		c.o.Reachable = true
		if got := Judge(c.o).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestIllegalStepsAreFound(t *testing.T) {
	converged := v1alpha1.LayerBindingStatus{Phase: v1alpha1.PhaseConverged, Revision: "r1"}
	timedOut := Progress{Phase: v1alpha1.PhaseTimedOut, wanted: "r1", Wait: &v1alpha1.Wait{Revision: "r1", Outcome: v1alpha1.OutcomeHolding}}
	rolled := v1alpha1.LayerBindingStatus{Phase: v1alpha1.PhaseTimedOut, Wait: &v1alpha1.Wait{Revision: "r1", Outcome: v1alpha1.OutcomeRolledBack}}
	for name, err := range map[string]error{
		"a deadline after convergence": checkTransition(converged, timedOut),
		"another outcome":              checkTransition(rolled, timedOut),
		"a deadline at once":           checkTransition(v1alpha1.LayerBindingStatus{}, timedOut),
	} {
		if err == nil {
			t.Errorf("%s is not found", name)
		}
	}
}
