package convergence

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Record is the status of a binding after a verdict and the step that followed from it. The
// generation is the binding's own. Times change only with what they are the time of, so that
// the same verdict gives the same status. The inventory stays; the old status is not changed.
func Record(old v1alpha1.LayerBindingStatus, v Verdict, p Progress, generation int64, now metav1.Time) v1alpha1.LayerBindingStatus {
	status := *old.DeepCopy()
	status.Revision = v.Revision
	status.LayerGeneration = v.LayerGeneration
	status.Phase, status.Wait, status.GoodRevision = p.Phase, p.Wait, p.GoodRevision
	status.Since = Since(old.State, p.State, status.Since, now)
	status.State = p.State
	status.Objects, status.Healthy, status.Drift = v.Objects, v.Healthy, v.Drift
	status.Ready = fmt.Sprintf("%d/%d", v.Healthy, v.Objects)
	status.Message = p.Message
	status.Problems = v.Problems
	message := p.Message
	if message == "" {
		message = fmt.Sprintf("all %d objects of %s are on the member and healthy", v.Objects, v.Revision)
	}
	status.Conditions = Conditions(status.Conditions, Statement{
		State: p.State, Reason: p.Reason, Message: message, Generation: generation,
	}, now)
	return status
}
