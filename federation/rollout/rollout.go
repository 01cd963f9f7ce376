package rollout

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/layer"
)

// Wanted is the revision that the member should have, or "" while the layer has none: the
// newest, or the earlier one that a person chose instead of it.
//
// The answer speaks for status.observedGeneration of the layer. While that is behind the
// layer's generation, it is the right thing to keep on the member and no ground for a
// verdict on the newer generation.
func Wanted(l v1alpha1.Layered, _ *v1alpha1.MemberCluster) string {
	status := l.LayerStatus()
	if chosen := status.RolledBack; chosen != nil && chosen.From == status.Revision {
		return chosen.Revision
	}
	return status.Revision
}

// Barrier is what keeps the wanted revision from members that do not have it yet: what holds the
// layer, or that nobody has approved it; nil if nothing does. What a person went back to needs
// no approval.
func Barrier(l v1alpha1.Layered, wanted string) *convergence.Barrier {
	status := l.LayerStatus()
	switch {
	case len(status.HeldBy) > 0:
		return &convergence.Barrier{
			Phase: v1alpha1.PhasePending, Reason: "Held",
			Message: fmt.Sprintf("revision %s is held by %s", wanted, strings.Join(status.HeldBy, ", ")),
		}
	case l.LayerSpec().Approval != v1alpha1.ApprovalManual || wanted != status.Revision:
		return nil
	case status.Approved == nil || status.Approved.Revision != wanted:
		barrier := &convergence.Barrier{
			Phase: v1alpha1.PhaseAwaitingApproval, Reason: "AwaitingApproval",
			Message: fmt.Sprintf("revision %s waits for approval: synclinectl approve %s", wanted, layer.RefOf(l)),
		}
		if status.Approved != nil {
			barrier.Instead = status.Approved.Revision
		}
		return barrier
	}
	return nil
}

// Behind is the barrier of a revision whose layer stands above a Strict one that has not
// converged on the member.
func Behind(strict v1alpha1.Layered, wanted string) *convergence.Barrier {
	return &convergence.Barrier{
		Phase: v1alpha1.PhasePending, Reason: "WaitsForLayer",
		Message: fmt.Sprintf("revision %s waits until the Strict layer %s has converged on the member", wanted, layer.RefOf(strict)),
	}
}

// Undecided is the barrier of a revision of which it is not known whether it is to be on the
// member.
func Undecided(wanted, why string) *convergence.Barrier {
	return &convergence.Barrier{
		Phase: v1alpha1.PhasePending, Reason: "FactsUnknown",
		Message: fmt.Sprintf("whether revision %s applies to the member is not known: %s", wanted, why),
	}
}

// Selects says whether the layer reaches the member: a Layer those of its own namespace, a
// ClusterLayer all, and of these the ones that its selector matches. Without a selector it
// reaches none. The error is a selector that cannot be read; it says nothing about members,
// and must not be taken for false.
func Selects(l v1alpha1.Layered, member *v1alpha1.MemberCluster) (bool, error) {
	if l.LayerKind() == v1alpha1.KindLayer && l.GetNamespace() != member.Namespace {
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(l.LayerSpec().ClusterSelector)
	if err != nil {
		return false, fmt.Errorf("spec.clusterSelector: %w", err)
	}
	return selector.Matches(labels.Set(member.Labels)), nil
}
