package assertion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// window is how long an assertion waits for further members to be observed. At most once in
// this time are all of its members looked at.
const window = time.Second

// Setup adds the controller to the manager.
func Setup(mgr manager.Manager, revisions Revisions, states *assertion.Cache) error {
	r := &Reconciler{
		Client: mgr.GetClient(), Revisions: revisions, States: states,
		Events: mgr.GetEventRecorder("syncline"), Clock: clock.RealClock{},
	}
	err := builder.ControllerManagedBy(mgr).
		Named("assertion").
		For(&v1alpha1.StateAssertion{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.MemberCluster{}, hub.Later(window, r.assertionsAbout), builder.WithPredicates(knownOtherwise())).
		Watches(&v1alpha1.Layer{}, handler.EnqueueRequestsFromMapFunc(r.assertionsOn), builder.WithPredicates(layerMoved())).
		Watches(&v1alpha1.ClusterLayer{}, handler.EnqueueRequestsFromMapFunc(r.assertionsOn), builder.WithPredicates(layerMoved())).
		WithOptions(controller.Options{RateLimiter: hub.RateLimiter[reconcile.Request]()}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("assertion controller: %w", err)
	}
	return nil
}

// knownOtherwise passes what changes which assertions a member counts for, or what is known of
// it.
func knownOtherwise() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, new := e.ObjectOld.(*v1alpha1.MemberCluster), e.ObjectNew.(*v1alpha1.MemberCluster)
		return !maps.Equal(old.Labels, new.Labels) ||
			old.DeletionTimestamp.IsZero() != new.DeletionTimestamp.IsZero() ||
			!equality.Semantic.DeepEqual(old.Status.Observations, new.Status.Observations) ||
			!equality.Semantic.DeepEqual(old.Status.Conditions, new.Status.Conditions)
	}}
}

// layerMoved passes what fallbacks are about.
func layerMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, new := e.ObjectOld.(v1alpha1.Layered).LayerStatus(), e.ObjectNew.(v1alpha1.Layered).LayerStatus()
		return old.Revision != new.Revision || !slices.Equal(old.HeldBy, new.HeldBy) ||
			!equality.Semantic.DeepEqual(old.RolledBack, new.RolledBack)
	}}
}

// assertionsAbout are the assertions of a member's namespace.
func (r *Reconciler) assertionsAbout(ctx context.Context, o client.Object) []reconcile.Request {
	return r.assertions(ctx, o.GetNamespace(), func(*v1alpha1.StateAssertion) bool { return true })
}

// assertionsOn are the assertions whose fallback names the layer, and those that hold it: these
// may be gone.
func (r *Reconciler) assertionsOn(ctx context.Context, o client.Object) []reconcile.Request {
	layer := o.(v1alpha1.Layered)
	ref := hub.ReferenceTo(layer)
	requests := r.assertions(ctx, layer.GetNamespace(), func(a *v1alpha1.StateAssertion) bool {
		return slices.Contains(a.Spec.Fallback.Layers, ref)
	})
	for _, key := range holdersOf(layer) {
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}

// assertions are those of a namespace, or of all, that are meant.
func (r *Reconciler) assertions(ctx context.Context, namespace string, meant func(*v1alpha1.StateAssertion) bool) []reconcile.Request {
	var list v1alpha1.StateAssertionList
	if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		log.FromContext(ctx).Error(err, "assertions may be judged late")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if a := &list.Items[i]; meant(a) {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: a.Namespace, Name: a.Name}})
		}
	}
	return requests
}
