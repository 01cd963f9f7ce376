package view

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
)

const (
	// maxWorst is how many members a layer's status names.
	maxWorst = 5
	// maxMessage and maxReport are the API's limits in bytes.
	maxMessage = 1024
	maxReport  = 512
)

// Layer is the status of a layer, given the members that it selects and bindings (others
// than the layer's own do no harm). What the layer's status says of revisions, and its
// condition Rendered, stays. The same arguments give the same status, at whatever time.
func Layer(l v1alpha1.Layered, selected []*v1alpha1.MemberCluster, bindings []v1alpha1.LayerBinding, now metav1.Time) v1alpha1.LayerStatus {
	status := *l.LayerStatus().DeepCopy()
	known := index(bindings)
	all := standings(l, selected, known)

	old := status.State
	status.Members = count(all)
	status.Converged = fmt.Sprintf("%d/%d", status.Members.Converged, status.Members.Total)
	all = append(all, leftovers(l, selected, known)...)
	slices.SortFunc(all, compareStandings)
	status.Worst = worst(all)
	reason := ""
	status.State, reason, status.Message = sumUp(l, all)
	if !l.GetDeletionTimestamp().IsZero() {
		status.State, reason, status.Message = v1alpha1.StateProgressing, "Deleting", leaving(layer.RefOf(l), bindings)
	}
	status.Since = convergence.Since(old, status.State, status.Since, now)
	status.Conditions = convergence.Conditions(status.Conditions, convergence.Statement{
		State:      status.State,
		Reason:     reason,
		Message:    cmp.Or(status.Message, fmt.Sprintf("all %d members have %s", status.Members.Total, rollout.Wanted(l, nil))),
		Generation: l.GetGeneration(),
	}, now)
	return status
}

// sumUp is the state of the layer as a whole.
func sumUp(l v1alpha1.Layered, all []standing) (state v1alpha1.State, reason, message string) {
	status := l.LayerStatus()
	rendered := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRendered)
	switch {
	case rendered != nil && rendered.Status == metav1.ConditionFalse:
		return v1alpha1.StateDegraded, rendered.Reason, convergence.Shorten(rendered.Message, maxMessage)
	case status.Revision == "" || status.ObservedGeneration < l.GetGeneration():
		return v1alpha1.StateProgressing, "Rendering", "the layer's content is being read"
	case len(all) == 0:
		return v1alpha1.StateConverged, "NoMembers", "the layer selects no member"
	case all[0].message == "":
		return all[0].state, "", ""
	}
	return all[0].state, "", convergence.Shorten(all[0].member+": "+all[0].message, maxMessage)
}

// leaving says where a layer that is being deleted still is.
func leaving(ref layer.Ref, bindings []v1alpha1.LayerBinding) string {
	var held []*v1alpha1.LayerBinding
	for key, b := range index(bindings) {
		if key.layer == ref {
			held = append(held, b)
		}
	}
	if len(held) == 0 {
		return "the layer is being deleted"
	}
	name := func(b *v1alpha1.LayerBinding) string { return b.Namespace + "/" + b.Spec.Member }
	first := slices.MinFunc(held, func(a, b *v1alpha1.LayerBinding) int { return cmp.Compare(name(a), name(b)) })
	message := "the layer is being deleted, and is still on " + name(first)
	if len(held) > 1 {
		message += fmt.Sprintf(" and %d more", len(held)-1)
	}
	if first.Status.Message != "" {
		message += ": " + first.Status.Message
	}
	return convergence.Shorten(message, maxMessage)
}

func count(all []standing) v1alpha1.MemberCounts {
	counts := v1alpha1.MemberCounts{Total: int32(len(all))}
	for _, s := range all {
		switch s.state {
		case v1alpha1.StateConverged:
			counts.Converged++
		case v1alpha1.StateDegraded:
			counts.Degraded++
		case v1alpha1.StatePaused:
			counts.Paused++
		case v1alpha1.StateUnknown:
			counts.Unknown++
		default:
			counts.Progressing++
		}
	}
	return counts
}

// worst are the members furthest from converged. The standings are sorted.
func worst(all []standing) []v1alpha1.MemberReport {
	var reports []v1alpha1.MemberReport
	for _, s := range all {
		if s.state == v1alpha1.StateConverged || len(reports) == maxWorst {
			break
		}
		reports = append(reports, v1alpha1.MemberReport{
			Member: s.member, State: s.state, Message: convergence.Shorten(s.message, maxReport),
		})
	}
	return reports
}
