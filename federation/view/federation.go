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
)

const (
	maxStack   = 100
	maxUnready = 10
)

// Federation is the view of all layers on all members. The layers' statuses are to be fresh
// (see Layer); of the bindings only their drift counts. The same arguments give the same
// status, at whatever time.
func Federation(f *v1alpha1.Federation, layers []v1alpha1.Layered, members []*v1alpha1.MemberCluster, bindings []v1alpha1.LayerBinding, now metav1.Time) v1alpha1.FederationStatus {
	status := *f.Status.DeepCopy()
	status.ObservedGeneration = f.Generation
	status.Members, status.Layers = int32(len(members)), int32(len(layers))

	unready := unreadyMembers(members)
	status.Ready = fmt.Sprintf("%d/%d", len(members)-len(unready), len(members))
	status.Unready = unready[:min(len(unready), maxUnready)]

	var converged, total int32
	for _, l := range layers {
		converged += l.LayerStatus().Members.Converged
		total += l.LayerStatus().Members.Total
	}
	status.Converged = fmt.Sprintf("%d/%d", converged, total)
	status.Drift = 0
	for _, b := range bindings {
		status.Drift += b.Status.Drift
	}
	status.Stack = stack(layers)
	status.State, status.Message = worstLayer(layers)
	if f.Spec.Paused {
		status.Message = convergence.Shorten(join("writing is paused for all members", status.Message), maxMessage)
	}
	status.Conditions = convergence.Conditions(status.Conditions, convergence.Statement{
		State:      status.State,
		Message:    cmp.Or(status.Message, fmt.Sprintf("%s layers on members have converged", status.Converged)),
		Generation: f.Generation,
	}, now)
	return status
}

func join(first, second string) string {
	if second == "" {
		return first
	}
	return first + "; " + second
}

// unreadyMembers are those that are not Ready, by name.
func unreadyMembers(members []*v1alpha1.MemberCluster) []v1alpha1.MemberReport {
	var reports []v1alpha1.MemberReport
	for _, m := range members {
		c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		if c != nil && c.Status == metav1.ConditionTrue {
			continue
		}
		report := v1alpha1.MemberReport{Member: memberName(m), State: v1alpha1.StateUnknown, Message: "has not been registered yet"}
		if c != nil {
			report.Message = convergence.Shorten(cmp.Or(c.Message, c.Reason), maxReport)
		}
		reports = append(reports, report)
	}
	slices.SortFunc(reports, func(a, b v1alpha1.MemberReport) int { return cmp.Compare(a.Member, b.Member) })
	return reports
}

// worstLayer is the worst state of any layer, and the message of the lowest that has it.
func worstLayer(layers []v1alpha1.Layered) (v1alpha1.State, string) {
	state, message := v1alpha1.StateConverged, ""
	for _, l := range bottomUp(layers) {
		s := l.LayerStatus()
		current := cmp.Or(s.State, v1alpha1.StateProgressing)
		if convergence.CompareStates(current, state) < 0 {
			state = current
			message = convergence.Shorten("layer "+layer.RefOf(l).String()+": "+cmp.Or(s.Message, string(current)), maxMessage)
		}
	}
	return state, message
}

func bottomUp(layers []v1alpha1.Layered) []v1alpha1.Layered {
	return slices.SortedFunc(slices.Values(layers), func(a, b v1alpha1.Layered) int {
		return layer.Compare(a.LayerSpec().Order, layer.RefOf(a), b.LayerSpec().Order, layer.RefOf(b))
	})
}

// stack reports the layers from bottom to top. Of too many the worst stay.
func stack(layers []v1alpha1.Layered) []v1alpha1.LayerReport {
	sorted := bottomUp(layers)
	if len(sorted) > maxStack {
		kept := map[v1alpha1.Layered]bool{}
		byState := slices.SortedStableFunc(slices.Values(sorted), func(a, b v1alpha1.Layered) int {
			return convergence.CompareStates(a.LayerStatus().State, b.LayerStatus().State)
		})
		for _, l := range byState[:maxStack] {
			kept[l] = true
		}
		sorted = slices.DeleteFunc(sorted, func(l v1alpha1.Layered) bool { return !kept[l] })
	}
	var reports []v1alpha1.LayerReport
	for _, l := range sorted {
		reports = append(reports, v1alpha1.LayerReport{
			Layer:     layer.RefOf(l).String(),
			Order:     l.LayerSpec().Order,
			Enforced:  l.LayerSpec().Enforce,
			State:     l.LayerStatus().State,
			Converged: l.LayerStatus().Converged,
		})
	}
	return reports
}
