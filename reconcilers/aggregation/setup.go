package aggregation

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

const (
	// layerWindow is how long a layer waits for further bindings to change. A change that
	// converges at once on all members is one write.
	layerWindow = 300 * time.Millisecond
	// federationWindow is longer than layerWindow, since the Federation sums up layers.
	federationWindow = 500 * time.Millisecond
)

// Setup adds the controllers to the manager.
func Setup(mgr manager.Manager) error {
	for _, kind := range []string{v1alpha1.KindLayer, v1alpha1.KindClusterLayer} {
		r := &layerReconciler{client: mgr.GetClient(), clock: clock.RealClock{}, kind: kind}
		err := builder.ControllerManagedBy(mgr).
			Named("aggregation-"+kind).
			Watches(hub.New(kind), hub.Later(layerWindow, itself)).
			Watches(&v1alpha1.LayerBinding{}, hub.Later(layerWindow, hub.LayerOfBinding(kind)), builder.WithPredicates(inMeaning())).
			Watches(&v1alpha1.MemberCluster{}, hub.Later(layerWindow, r.layersOfMember), builder.WithPredicates(inMeaning())).
			WithOptions(controller.Options{RateLimiter: hub.RateLimiter[reconcile.Request]()}).
			Complete(r)
		if err != nil {
			return fmt.Errorf("aggregation controller for %s: %w", kind, err)
		}
	}
	r := &federationReconciler{client: mgr.GetClient(), clock: clock.RealClock{}}
	err := builder.ControllerManagedBy(mgr).
		Named("aggregation-federation").
		For(&v1alpha1.Federation{}).
		WatchesRawSource(source.Func(atOnce)).
		Watches(&v1alpha1.Layer{}, hub.Later(federationWindow, theFederation)).
		Watches(&v1alpha1.ClusterLayer{}, hub.Later(federationWindow, theFederation)).
		Watches(&v1alpha1.MemberCluster{}, hub.Later(federationWindow, theFederation)).
		Watches(&v1alpha1.LayerBinding{}, hub.Later(federationWindow, theFederation), builder.WithPredicates(inMeaning())).
		WithOptions(controller.Options{RateLimiter: hub.RateLimiter[reconcile.Request]()}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("aggregation controller for Federation: %w", err)
	}
	return nil
}

// atOnce queues the Federation when the leader starts, so that there is one.
func atOnce(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: v1alpha1.FederationName}})
	return nil
}

func itself(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
}

func theFederation(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: v1alpha1.FederationName}}}
}

// layersOfMember maps a member to all layers that may reach it: it may have come, gone, or
// changed its labels.
func (r *layerReconciler) layersOfMember(ctx context.Context, o client.Object) []reconcile.Request {
	layers, err := hub.LayersWithin(ctx, r.client, o.GetNamespace())
	if err != nil {
		log.FromContext(ctx).Error(err, "a member may be counted late")
		return nil
	}
	return hub.RequestsFor(r.kind, layers)
}

// inMeaning passes over updates of bindings and members that no summary shows: those of an
// inventory alone, say.
func inMeaning() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		switch old := e.ObjectOld.(type) {
		case *v1alpha1.LayerBinding:
			return !equality.Semantic.DeepEqual(summarized(old), summarized(e.ObjectNew.(*v1alpha1.LayerBinding)))
		case *v1alpha1.MemberCluster:
			updated := e.ObjectNew.(*v1alpha1.MemberCluster)
			return !equality.Semantic.DeepEqual(old.Labels, updated.Labels) ||
				!equality.Semantic.DeepEqual(old.Status.Conditions, updated.Status.Conditions)
		}
		return true
	}}
}

func summarized(b *v1alpha1.LayerBinding) v1alpha1.LayerBindingStatus {
	status := b.Status
	status.Epoch = 0
	status.Inventory, status.InventoryData, status.Problems, status.Conditions = nil, nil, nil, nil
	return status
}
