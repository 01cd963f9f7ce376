package assertion

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// maxNote is the limit of an event's text.
const maxNote = 1024

// record writes the assertion's status, and then tells people of what has changed in it.
func (r *Reconciler) record(ctx context.Context, p *pass) error {
	after := p.assertion.DeepCopy()
	after.Status = p.status
	after.Status.ObservedGeneration = p.assertion.Generation
	p.setConditions(&after.Status.Conditions)
	if _, err := hub.PatchStatus(ctx, r.Client, p.assertion, after); err != nil {
		return err
	}
	was, is := p.assertion.Status.Acted, p.status.Acted
	switch {
	case was == nil && is != nil:
		r.Events.Eventf(p.assertion, nil, corev1.EventTypeWarning, "AssertionFailed", "FallBack", "%s", convergence.Shorten(p.failed(), maxNote))
	case was != nil && is == nil && p.status.Holds == metav1.ConditionTrue:
		r.Events.Eventf(p.assertion, nil, corev1.EventTypeNormal, "AssertionHolds", "Judge", "it holds again")
	}
	return nil
}

// setConditions sets Ready and Holds, and, while true, Stalled and Reconciling.
func (p *pass) setConditions(conditions *[]metav1.Condition) {
	ready, holds := p.ready(), p.holds()
	stalled := metav1.Condition{Type: v1alpha1.ConditionStalled, Reason: ready.Reason, Message: ready.Message}
	if ready.Status == metav1.ConditionTrue {
		stalled.Reason, stalled.Message = "DeadlineExceeded", p.failed()
	}
	reconciling := metav1.Condition{Type: v1alpha1.ConditionReconciling, Reason: holds.Reason, Message: holds.Message}
	isStalled := ready.Status != metav1.ConditionTrue || p.status.Acted != nil
	for _, c := range []*metav1.Condition{&ready, &holds, &stalled, &reconciling} {
		c.ObservedGeneration = p.assertion.Generation
		c.Message = convergence.Shorten(c.Message, maxNote)
	}
	meta.SetStatusCondition(conditions, ready)
	meta.SetStatusCondition(conditions, holds)
	hub.SetOnlyWhileTrue(conditions, isStalled, stalled)
	hub.SetOnlyWhileTrue(conditions, !isStalled && holds.Status != metav1.ConditionTrue, reconciling)
}

// ready says whether the assertion can be judged, and its fallback be carried out.
func (p *pass) ready() metav1.Condition {
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}
	switch {
	case p.state == nil:
		ready.Reason = p.problems[0].Reason
		var all []string
		for _, problem := range p.problems {
			all = append(all, problem.Message())
		}
		ready.Message = strings.Join(all, "; ")
	case p.verdict.Members == 0:
		ready.Reason = "SelectsNoMember"
		ready.Message = "spec.clusterSelector selects no member of the namespace: mend it, or register members"
	case len(p.missing) > 0:
		ready.Reason = "LayerNotFound"
		ready.Message = fmt.Sprintf("spec.fallback.layers: %s does not exist: make it, or take it out", strings.Join(p.missing, ", "))
	default:
		ready.Status, ready.Reason = metav1.ConditionTrue, "Judged"
		ready.Message = fmt.Sprintf("it is about %d members", p.verdict.Members)
	}
	return ready
}

// holds says whether the expression is true.
func (p *pass) holds() metav1.Condition {
	holds := metav1.Condition{Type: v1alpha1.ConditionHolds, Status: p.status.Holds, Message: p.status.Message}
	switch holds.Status {
	case metav1.ConditionTrue:
		holds.Reason, holds.Message = "Holds", fmt.Sprintf("the expression is true of %d members", p.verdict.Members)
	case metav1.ConditionFalse:
		holds.Reason = "DoesNotHold"
	default:
		holds.Reason = "NotKnown"
	}
	return holds
}

// failed says that the assertion has not held for too long, and what was done then.
func (p *pass) failed() string {
	if p.state == nil {
		return p.status.Message
	}
	parts := append([]string{fmt.Sprintf("it has not held within %s", p.state.Within)}, p.done...)
	parts = append(parts, p.trouble...)
	return cmp.Or(p.status.Message, "it does not hold") + "; " + strings.Join(parts, "; ")
}
