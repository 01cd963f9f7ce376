package member

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/criteria"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// What is said before objects are made is so: the verdict on what was there is withdrawn, and
// what is said of a revision that was waited for stands.
func TestAVerdictIsWithdrawnBeforeObjectsAreMade(t *testing.T) {
	said := func(state v1alpha1.State, converged metav1.ConditionStatus) v1alpha1.LayerBindingStatus {
		return v1alpha1.LayerBindingStatus{
			Revision: "web-1", State: state, GoodRevision: "web-1",
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionConverged, Status: converged, Reason: "Before"}},
		}
	}
	id := configMap("a")
	p := &pass{
		snapshot: &snapshot{member: &v1alpha1.MemberCluster{}}, pages: newPages(), desired: &desired{}, now: noon,
		plan: plan{steps: []step{{object: wanted{Object: &layer.Object{Home: home, Layers: []layer.Ref{home}}, ID: id}, verb: apply}}},
	}
	placed := &stack.Placed{
		Layer: &v1alpha1.Layer{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: home.Name}}, Binding: &v1alpha1.LayerBinding{},
		Choice: convergence.Choice{Given: "web-2", Wanted: "web-2"}, Criteria: &criteria.Criteria{},
	}
	status := said(v1alpha1.StateConverged, metav1.ConditionTrue)
	p.withdraw(&status, placed)
	if status.State == v1alpha1.StateConverged || meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionConverged) ||
		status.Revision != "web-2" || status.GoodRevision != "web-1" {
		t.Errorf("got %+v", status)
	}
	status = said(v1alpha1.StateDegraded, metav1.ConditionFalse)
	p.withdraw(&status, placed)
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionConverged); !strings.Contains(c.Reason, "Before") {
		t.Errorf("got %+v", c)
	}
}
