package member

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

func TestPace(t *testing.T) {
	now := time.Unix(1000, 0)
	p := pace{}
	if rest := p.rest("web", now); rest != 0 {
		t.Errorf("the first write waits %s", rest)
	}
	p.written("web", now)
	for after, want := range map[time.Duration]time.Duration{
		0: statusWindow, statusWindow / 4: 3 * statusWindow / 4, statusWindow: 0, time.Hour: 0,
	} {
		if rest := p.rest("web", now.Add(after)); rest != want {
			t.Errorf("%s after a write the next waits %s, want %s", after, rest, want)
		}
	}
	if rest := p.rest("api", now); rest != 0 {
		t.Errorf("another binding waits %s", rest)
	}
}

// TestRewords: only what depends on no moment may be said later.
func TestRewords(t *testing.T) {
	now := metav1.Now()
	before := v1alpha1.LayerBindingStatus{
		Revision: "web-2", LayerGeneration: 2, State: v1alpha1.StateProgressing, Phase: v1alpha1.PhaseVerifying,
		GoodRevision: "web-1", Wait: &v1alpha1.Wait{Revision: "web-2", Started: &now, TimeoutAt: &now},
		Inventory: []v1alpha1.InventoryEntry{{ID: "a", Applied: "1"}}, Epoch: 3,
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.LayerBindingStatus)
		want   bool
	}{
		"counts":  {func(s *v1alpha1.LayerBindingStatus) { s.Healthy, s.Ready = 4, "4/5" }, true},
		"a state": {func(s *v1alpha1.LayerBindingStatus) { s.State, s.Since, s.Message = v1alpha1.StateDegraded, &now, "no" }, true},
		"conditions and problems": {func(s *v1alpha1.LayerBindingStatus) {
			s.Conditions, s.Problems = []metav1.Condition{{Type: "Converged"}}, []v1alpha1.Problem{{Reason: "No"}}
		}, true},
		"a revision":        {func(s *v1alpha1.LayerBindingStatus) { s.Revision = "web-3" }, false},
		"a good revision":   {func(s *v1alpha1.LayerBindingStatus) { s.GoodRevision = "web-2" }, false},
		"a generation":      {func(s *v1alpha1.LayerBindingStatus) { s.LayerGeneration = 3 }, false},
		"an outcome":        {func(s *v1alpha1.LayerBindingStatus) { s.Wait.Outcome = v1alpha1.OutcomeHolding }, false},
		"a clock's stop":    {func(s *v1alpha1.LayerBindingStatus) { s.Wait.StoppedAt = &now }, false},
		"the end of a wait": {func(s *v1alpha1.LayerBindingStatus) { s.Wait = nil }, false},
		"an object":         {func(s *v1alpha1.LayerBindingStatus) { s.Inventory[0].Applied = "2" }, false},
		"an epoch":          {func(s *v1alpha1.LayerBindingStatus) { s.Epoch = 4 }, true},
	} {
		after := before.DeepCopy()
		c.change(after)
		if got := rewords(&before, after); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if rewords(&v1alpha1.LayerBindingStatus{}, &before) {
		t.Error("the first verdict waits")
	}
}

// Who was given a member leaves what its last owner has said for a moment; who took it over says
// at once what is so.
func TestANewOwnerLeavesWhatIsStillSo(t *testing.T) {
	status := v1alpha1.LayerBindingStatus{State: v1alpha1.StateConverged, Epoch: 3}
	news := v1alpha1.LayerBindingStatus{State: v1alpha1.StateConverged, Epoch: 4, Revision: "web-2"}
	for name, c := range map[string]struct {
		reason shard.Reason
		owned  time.Duration // for how long
		after  v1alpha1.LayerBindingStatus
		want   time.Duration // until it is said; 0 for now
	}{
		"given just now":           {shard.ReasonAssigned, 0, v1alpha1.LayerBindingStatus{State: v1alpha1.StateConverged, Epoch: 4}, arrivalWindow},
		"given a moment ago":       {shard.ReasonAssigned, arrivalWindow / 4, v1alpha1.LayerBindingStatus{State: v1alpha1.StateDegraded, Epoch: 4}, 3 * arrivalWindow / 4},
		"given a while ago":        {shard.ReasonAssigned, arrivalWindow, v1alpha1.LayerBindingStatus{State: v1alpha1.StateConverged, Epoch: 4}, 0},
		"given, and there is news": {shard.ReasonAssigned, 0, news, 0},
		"taken over":               {shard.ReasonTakeover, 0, v1alpha1.LayerBindingStatus{State: v1alpha1.StateConverged, Epoch: 4}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pass{
				snapshot: &snapshot{owner: shard.Ownership{Reason: c.reason, Since: noon.Add(-c.owned)}},
				pages:    newPages(), now: noon,
			}
			s := &statement{
				placed: &stack.Placed{Binding: &v1alpha1.LayerBinding{Status: status}},
				after:  &v1alpha1.LayerBinding{Status: c.after},
			}
			if postponed := p.postponed(s); postponed != (c.want > 0) || p.wake != c.want {
				t.Errorf("postponed: %t, for %s; want %s", postponed, p.wake, c.want)
			}
		})
	}
}
