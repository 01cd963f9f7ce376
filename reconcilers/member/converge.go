package member

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// conclusion is what a pass concludes about one layer on the member.
type conclusion struct {
	verdict  convergence.Verdict
	progress convergence.Progress
}

// judge judges a layer on the member and takes the step that follows.
func (p *pass) judge(ctx context.Context, placed *stack.Placed) conclusion {
	policy, unreadable := convergence.PolicyFor(&placed.Layer.LayerSpec().Convergence, p.member.Labels)
	observation := p.observe(placed)
	observation.MinHealthyPercent = policy.MinHealthyPercent
	if unreadable != nil {
		observation.Problems = append(observation.Problems, object.Problem{
			Severity: object.Warning, Layer: placed.Ref().String(), Reason: "InvalidRelaxation",
			Detail: unreadable.Error() + ": it relaxes nothing",
		})
	}
	verdict := convergence.Judge(observation)
	switch {
	case placed.Criteria.Assertions.Empty() || placed.Given == "":
	case verdict.State == v1alpha1.StateConverged:
		observation.Assertions = p.assert(ctx, placed)
		verdict = convergence.Judge(observation)
	default:
		delete(p.pages.answers, placed.Ref()) // they were about other objects
	}
	return conclusion{verdict, convergence.Advance(placed.Status(), convergence.Situation{
		Choice: placed.Choice, Verdict: verdict, Policy: policy, Paused: observation.Paused,
	}, p.now)}
}

// conclude does what follows from a conclusion once it is written: whatever stops the hub from
// here on, the next pass finds it decided.
func (r *Reconciler) conclude(ctx context.Context, p *pass, placed *stack.Placed, c conclusion) {
	before, after := placed.Status(), c.progress
	if after.Illegal != nil {
		illegalTransitions.Inc()
		log.FromContext(ctx).Error(after.Illegal, "this is a fault of Syncline's", "layer", placed.Ref().String(), "member", p.key.String())
	}
	if notice := after.Notice; notice != nil {
		kind := corev1.EventTypeNormal
		if notice.Bad {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(placed.Binding, placed.Layer, kind, notice.Reason, "Converge", "%s", notice.Message)
		r.Events.Eventf(placed.Layer, placed.Binding, kind, notice.Reason, "Converge", "%s: %s", p.key, notice.Message)
	}
	p.wakeAt(after.Due)
	if decided(before.Wait, after.Wait) {
		fallbacks.WithLabelValues(string(after.Wait.Outcome)).Inc()
		p.wakeIn(time.Millisecond) // the next pass carries it out
		if after.Wait.Outcome == v1alpha1.OutcomeRetrying {
			p.pages.again[placed.Ref()] = true
		}
	}
	settled := convergence.Settled(placed.Choice, v1alpha1.LayerBindingStatus{
		Phase: after.Phase, Wait: after.Wait, GoodRevision: after.GoodRevision, Revision: c.verdict.Revision,
	})
	if settled && !convergence.Settled(placed.Choice, before) {
		p.wakeIn(time.Millisecond) // layers above may wait for this one
	}
}

// decided says whether a step has decided what is done about a deadline.
func decided(before, after *v1alpha1.Wait) bool {
	if after == nil || after.Outcome == "" {
		return false
	}
	return before == nil || before.Revision != after.Revision || before.Outcome != after.Outcome || before.Attempt != after.Attempt
}
