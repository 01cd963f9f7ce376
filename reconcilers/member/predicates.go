package member

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// onUpdate passes every creation and deletion, and the updates that matter.
func onUpdate(matters func(before, after client.Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return lives(e.ObjectOld) != lives(e.ObjectNew) || matters(e.ObjectOld, e.ObjectNew)
	}}
}

func lives(o client.Object) bool { return o.GetDeletionTimestamp().IsZero() }

// lifeChanged passes creations and deletions: a binding's status is our own word.
func lifeChanged() predicate.Predicate {
	return onUpdate(func(_, _ client.Object) bool { return false })
}

// generationChanged passes changes of the spec.
func generationChanged() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return before.GetGeneration() != after.GetGeneration()
	})
}

// layerChanged passes what the leader says of a layer: a new revision, what holds it, what people
// chose, or that placement has seen the newest generation, whose selector and sync policy are then
// in effect. The edit itself
// is passed over, and so is the aggregated part of the status: a change of a layer is one
// pass over its members.
func layerChanged() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		old, new := before.(v1alpha1.Layered).LayerStatus(), after.(v1alpha1.Layered).LayerStatus()
		return old.Revision != new.Revision || old.ObservedGeneration != new.ObservedGeneration ||
			!slices.Equal(old.HeldBy, new.HeldBy) ||
			!equality.Semantic.DeepEqual(old.Approved, new.Approved) || !equality.Semantic.DeepEqual(old.RolledBack, new.RolledBack)
	})
}

// memberChanged passes what may change what a member should have, or whether it may be
// written to: its labels and spec, and what registration says of it.
func memberChanged() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		old, new := before.(*v1alpha1.MemberCluster), after.(*v1alpha1.MemberCluster)
		return old.Generation != new.Generation ||
			!maps.Equal(old.Labels, new.Labels) ||
			pausedByMember(old) != pausedByMember(new) ||
			old.Status.UID != new.Status.UID ||
			registered(old) != registered(new)
	})
}

func registered(m *v1alpha1.MemberCluster) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionRegistered)
}
