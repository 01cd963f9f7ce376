package placement

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// Setup adds one controller for each kind of layer to the manager.
func Setup(mgr manager.Manager, revisions *revision.Store, systemNamespace string) error {
	for _, kind := range []string{v1alpha1.KindLayer, v1alpha1.KindClusterLayer} {
		reconciler := &Reconciler{Client: mgr.GetClient(), Revisions: revisions, Kind: kind, SystemNamespace: systemNamespace, Clock: clock.RealClock{}}
		err := builder.ControllerManagedBy(mgr).
			Named("placement-"+kind).
			For(hub.New(kind), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
			Watches(&v1alpha1.LayerBinding{}, handler.EnqueueRequestsFromMapFunc(hub.LayerOfBinding(kind)),
				builder.WithPredicates(onlyDeletes())).
			WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(reconciler.readersOf("ConfigMap"))).
			WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(reconciler.readersOf("Secret"))).
			WithOptions(controller.Options{MaxConcurrentReconciles: 4, RateLimiter: hub.RateLimiter[reconcile.Request]()}).
			Complete(reconciler)
		if err != nil {
			return fmt.Errorf("placement controller for %s: %w", kind, err)
		}
	}
	return nil
}

// readersOf maps a ConfigMap or Secret to the layers that read it.
func (r *Reconciler) readersOf(sourceKind string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		layers, err := hub.LayersReading(ctx, r.Client, sourceKind, client.ObjectKeyFromObject(o), r.SystemNamespace)
		if err != nil {
			log.FromContext(ctx).Error(err, "a change of a source may be noticed late")
			return nil
		}
		return hub.RequestsFor(r.Kind, layers)
	}
}

func onlyDeletes() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
