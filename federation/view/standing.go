package view

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
)

// standing is where one layer stands on one member.
type standing struct {
	// member is <namespace>/<name>.
	member string
	state  v1alpha1.State
	// objects and healthy are what the binding last counted.
	objects, healthy int32
	message          string
	// since is when the state began, where the binding knows; limit is the time that it may last,
	// 0 for any.
	since *metav1.Time
	limit time.Duration
}

// standingOf judges how far a binding is to be believed. It may be nil.
func standingOf(l v1alpha1.Layered, m *v1alpha1.MemberCluster, b *v1alpha1.LayerBinding) standing {
	s := standing{member: memberName(m), state: v1alpha1.StateProgressing}
	if b != nil {
		s.objects, s.healthy = b.Status.Objects, b.Status.Healthy
	}
	if reason, unseen := unseen(m); unseen {
		s.state, s.message = v1alpha1.StateUnknown, reason
		return s
	}
	wanted := rollout.Wanted(l, m)
	switch {
	case wanted == "":
		s.message = "waits for the layer's first revision"
	case b == nil || b.Status.State == "":
		s.message = "waits for its first verdict"
	case b.Status.State == v1alpha1.StateUnknown:
		s.state, s.message = v1alpha1.StateUnknown, b.Status.Message
	case about(b) != wanted && !convergence.Excludes(b.Status):
		s.message = "waits for revision " + wanted
	case b.Status.LayerGeneration < l.GetGeneration():
		s.message = "waits for a verdict on the layer's newest generation"
	default:
		s.state, s.message = b.Status.State, b.Status.Message
	}
	if b != nil && b.Status.State == s.state {
		s.since = b.Status.Since
		if wait := b.Status.Wait; s.state == v1alpha1.StateProgressing && wait != nil && wait.Started != nil && wait.TimeoutAt != nil {
			s.since, s.limit = wait.Started, wait.TimeoutAt.Sub(wait.Started.Time)
		}
	}
	return s
}

// about is the revision that a binding's verdict is about: the one that the member should have,
// be it given to the member or not.
func about(b *v1alpha1.LayerBinding) string {
	if wait := b.Status.Wait; wait != nil {
		return wait.Revision
	}
	return b.Status.Revision
}

// unseen says whether the member cannot be seen, and why: nobody looks at one that has no
// owner. A member that nothing has been said about yet may be seen any moment, and is not
// unseen.
func unseen(m *v1alpha1.MemberCluster) (string, bool) {
	if c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionOwnerless); c != nil {
		return c.Message, true
	}
	c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReachable)
	if c == nil || c.Status == metav1.ConditionTrue {
		return "", false
	}
	return cmp.Or(c.Message, "the member cannot be reached"), true
}

func memberName(m *v1alpha1.MemberCluster) string { return m.Namespace + "/" + m.Name }

// leftovers are where the layer stands on members that it does not select any more, and has
// not left yet.
func leftovers(l v1alpha1.Layered, selected []*v1alpha1.MemberCluster, bindings map[bindingKey]*v1alpha1.LayerBinding) []standing {
	ref, still := layer.RefOf(l), map[string]bool{}
	for _, m := range selected {
		still[memberName(m)] = true
	}
	var left []standing
	for key, b := range bindings {
		if key.layer != ref || still[key.member] || !b.DeletionTimestamp.IsZero() {
			continue
		}
		s := standing{member: key.member, state: b.Status.State, since: b.Status.Since}
		s.message = cmp.Or(b.Status.Message, "is leaving the member")
		if s.state == "" || s.state == v1alpha1.StateConverged {
			s.state = v1alpha1.StateProgressing // its last word from before it was to leave
		}
		left = append(left, s)
	}
	return left
}

// compareStandings puts the worst first.
func compareStandings(a, b standing) int {
	return cmp.Or(convergence.CompareStates(a.state, b.state), cmp.Compare(a.member, b.member))
}

// bindingKey finds a binding by its two ends.
type bindingKey struct {
	layer  layer.Ref
	member string
}

func index(bindings []v1alpha1.LayerBinding) map[bindingKey]*v1alpha1.LayerBinding {
	m := make(map[bindingKey]*v1alpha1.LayerBinding, len(bindings))
	for i := range bindings {
		b := &bindings[i]
		ref := layer.Ref{Kind: b.Spec.Layer.Kind, Name: b.Spec.Layer.Name}
		if ref.Kind == v1alpha1.KindLayer {
			ref.Namespace = b.Namespace
		}
		m[bindingKey{ref, b.Namespace + "/" + b.Spec.Member}] = b
	}
	return m
}

// standings are where the layer stands on each of the members, the worst first.
func standings(l v1alpha1.Layered, members []*v1alpha1.MemberCluster, bindings map[bindingKey]*v1alpha1.LayerBinding) []standing {
	ref := layer.RefOf(l)
	all := make([]standing, 0, len(members))
	for _, m := range members {
		all = append(all, standingOf(l, m, bindings[bindingKey{ref, memberName(m)}]))
	}
	slices.SortFunc(all, compareStandings)
	return all
}
