package member

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/object"
)

func TestRefusalsBackOff(t *testing.T) {
	p := newLedger().of(types.NamespacedName{Namespace: "fleet", Name: "eu-1"})
	a := configMap("a")
	var waits []time.Duration
	now := noon
	for range 9 {
		p.refuse(a, "d1", object.Problem{}, false, now)
		waits = append(waits, p.nextRetry(now))
		now = now.Add(p.nextRetry(now))
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		if waits[i] != want*time.Second {
			t.Errorf("attempt %d waits %s, not %ds", i+1, waits[i], want)
		}
	}
	if !p.refused[a].lasting() {
		t.Error("a person should hear of what fails nine times")
	}
	p.refuse(a, "d2", object.Problem{}, false, now)
	if got := p.nextRetry(now); got != time.Second {
		t.Errorf("other content waits %s, not 1s", got)
	}
	p.refuse(a, "d3", object.Problem{}, true, now)
	if got := p.nextRetry(now); got != terminalRetry || !p.refused[a].lasting() {
		t.Errorf("what waits for a person waits %s", got)
	}
	p.refuse(a, "d4", object.Problem{Reason: member.ReasonForbidden}, true, now)
	if got := p.nextRetry(now); got != lastRetry || !p.refused[a].lasting() {
		t.Errorf("what somebody on the member may mend unseen waits %s", got)
	}
	p.accepted(a)
	if got := p.nextRetry(now); got != 0 {
		t.Errorf("nothing is refused, and yet %s", got)
	}
}

func TestForgottenWithTheObject(t *testing.T) {
	p := newLedger().of(types.NamespacedName{Namespace: "fleet", Name: "eu-1"})
	p.refuse(configMap("a"), "d1", object.Problem{}, false, noon)
	p.refuse(configMap("b"), "d1", object.Problem{}, false, noon)
	p.refuse(configMap("c"), removing, object.Problem{}, false, noon)
	p.forget([]wanted{want(configMap("b"), "d1")}, inventory{configMap("c"): {}}, noon)
	if _, kept := p.refused[configMap("a")]; kept || len(p.refused) != 2 {
		t.Errorf("refusals left: %v", p.refused)
	}
}

func TestNewestBindingCounts(t *testing.T) {
	l := newLedger()
	key := types.NamespacedName{Namespace: "fleet", Name: "eu-1"}
	version := func(v string, uid types.UID) *v1alpha1.LayerBinding {
		return &v1alpha1.LayerBinding{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: v, UID: uid}}
	}
	l.of(key).written["b"] = version("10", "u1")
	for _, row := range []struct {
		cached *v1alpha1.LayerBinding
		want   string
		why    string
	}{
		{version("9", "u1"), "10", "the cache is behind our own write"},
		{version("11", "u1"), "11", "somebody wrote after us"},
		{version("9", "u2"), "9", "it is another binding under the same name"},
	} {
		if got := l.newest(key, row.cached).ResourceVersion; got != row.want {
			t.Errorf("%s: got version %s, want %s", row.why, got, row.want)
		}
	}
}

// An autoscaler changes replicas every 15 seconds, and we mend it each time, until it is
// plain that neither will give in.
func TestContests(t *testing.T) {
	p, a := newPages(), configMap("a")
	now := noon
	change := func() bool { return p.contest(a, "spec.replicas was changed by hpa", now) }
	for i := range timesToContest - 1 {
		if change() {
			t.Fatalf("contested after %d changes", i+1)
		}
		now = now.Add(15 * time.Second)
	}
	var waits []time.Duration
	for range 7 {
		if !change() {
			t.Fatal("the change came again in no time, and is not contested")
		}
		p.backOff(a, "d1@0", object.Problem{Reason: reasonContested}, now)
		waits = append(waits, p.nextRetry(now))
		now = now.Add(p.nextRetry(now))
		p.forget([]wanted{want(a, "d1")}, nil, now)
		if p.holds(a, "d1@0", now) || change() {
			t.Fatal("its time has come, and it is not tried")
		}
		now = now.Add(15 * time.Second)
	}
	for i, want := range []time.Duration{20, 40, 80, 160, 320, 600, 600} {
		if waits[i] != want*time.Second {
			t.Errorf("back-off %d is %s, not %ds", i+1, waits[i], want)
		}
	}
	now = now.Add(contestMemory + contestedLonger)
	if change() || p.contests[a].times != 1 {
		t.Error("a change that comes long after the last is one for itself")
	}
}

func TestAnotherChangeIsAnotherContest(t *testing.T) {
	p, a := newPages(), configMap("a")
	for i := range 3 * timesToContest {
		change := []string{"data.a was changed by x", "data.b was changed by x"}[i%2]
		if p.contest(a, change, noon) {
			t.Fatal("two fields that change in turn are no contest about one")
		}
	}
}

func TestDriftIsReadOnceWhileItStays(t *testing.T) {
	p, a := newPages(), configMap("a")
	if !p.report(a, "2", object.Problem{Reason: reasonDrifted}) || p.report(a, "2", object.Problem{Reason: reasonDrifted}) {
		t.Error("a drift is news once")
	}
	if _, known := p.reported(a, "2"); !known {
		t.Error("what was read is not remembered")
	}
	if _, known := p.reported(a, "3"); known {
		t.Error("the object has changed since, and is to be read again")
	}
}
