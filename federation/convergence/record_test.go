package convergence

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// checkConditions holds what is true of the conditions of every kind that has these.
func checkConditions(t *testing.T, conditions []metav1.Condition, state v1alpha1.State) {
	t.Helper()
	is := func(kind string) metav1.ConditionStatus {
		if c := meta.FindStatusCondition(conditions, kind); c != nil {
			if c.Reason == "" || c.LastTransitionTime.IsZero() {
				t.Errorf("%s without a reason or a time", kind)
			}
			return c.Status
		}
		return ""
	}
	converged, reconciling, stalled := is(v1alpha1.ConditionConverged), is(v1alpha1.ConditionReconciling), is(v1alpha1.ConditionStalled)
	if (converged == metav1.ConditionTrue) != (state == v1alpha1.StateConverged) {
		t.Errorf("%s: Converged is %s", state, converged)
	}
	if reconciling == metav1.ConditionFalse || stalled == metav1.ConditionFalse {
		t.Errorf("%s: a condition that is only there while true is False", state)
	}
	if busy := reconciling != "" || stalled != ""; busy == (converged == metav1.ConditionTrue) || reconciling != "" && stalled != "" {
		t.Errorf("%s: Reconciling %q, Stalled %q", state, reconciling, stalled)
	}
}

func TestRecord(t *testing.T) {
	old := v1alpha1.LayerBindingStatus{Inventory: []v1alpha1.InventoryEntry{{ID: "/ConfigMap/shop/a", Version: "v1"}}}
	for _, state := range badness {
		v := Verdict{State: state, Reason: "Because", Message: "some words", Revision: "web-1", LayerGeneration: 4, Objects: 3, Healthy: 2, Drift: 1}
		status := record(old, v, 1, t0)
		checkConditions(t, status.Conditions, state)
		if status.Ready != "2/3" || status.Drift != 1 || status.LayerGeneration != 4 || !status.Since.Equal(&t0) || len(status.Inventory) != 1 {
			t.Errorf("%+v", status)
		}
		if again := record(status, v, 1, t1); !reflect.DeepEqual(again, status) {
			t.Errorf("%s: the same verdict changes the status:\n%+v\n%+v", state, status, again)
		}
		old = status // From each state to the next.
	}
}

// TestTimesChangeWithWhatTheyAreOf: the state's time with the state, a condition's with its
// status, and neither with a message.
func TestTimesChangeWithWhatTheyAreOf(t *testing.T) {
	first := record(v1alpha1.LayerBindingStatus{}, Verdict{State: v1alpha1.StateProgressing, Reason: "A", Message: "a"}, 1, t0)
	words := record(first, Verdict{State: v1alpha1.StateProgressing, Reason: "B", Message: "b"}, 2, t1)
	if !words.Since.Equal(&t0) {
		t.Error("since changes with a message")
	}
	c := meta.FindStatusCondition(words.Conditions, v1alpha1.ConditionConverged)
	if !c.LastTransitionTime.Equal(&t0) || c.Message != "b" || c.ObservedGeneration != 2 {
		t.Errorf("%+v", c)
	}
	paused := record(first, Verdict{State: v1alpha1.StatePaused, Reason: "A"}, 1, t1)
	if !paused.Since.Equal(&t1) {
		t.Error("since does not change with the state")
	}
	if c := meta.FindStatusCondition(paused.Conditions, v1alpha1.ConditionConverged); !c.LastTransitionTime.Equal(&t0) {
		t.Error("Converged is False as before, and its time changes")
	}
	done := record(first, Verdict{State: v1alpha1.StateConverged, Reason: "A"}, 1, t1)
	if c := meta.FindStatusCondition(done.Conditions, v1alpha1.ConditionConverged); !c.LastTransitionTime.Equal(&t1) {
		t.Error("Converged becomes True, and its time does not change")
	}
	if first.State != v1alpha1.StateProgressing || len(first.Conditions) != 2 {
		t.Error("the old status has changed")
	}
}

// record is Record of what a verdict alone says.
func record(old v1alpha1.LayerBindingStatus, v Verdict, generation int64, now metav1.Time) v1alpha1.LayerBindingStatus {
	return Record(old, v, Unwaited(old, v), generation, now)
}
