package hub

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// LayerOfBinding maps a binding to its layer, if that is of the kind.
func LayerOfBinding(kind string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		ref := o.(*v1alpha1.LayerBinding).Spec.Layer
		if ref.Kind != kind {
			return nil
		}
		key := client.ObjectKey{Name: ref.Name}
		if kind == v1alpha1.KindLayer {
			key.Namespace = o.GetNamespace()
		}
		return []reconcile.Request{{NamespacedName: key}}
	}
}

// RequestsFor are the requests for those of the layers that are of the kind.
func RequestsFor(kind string, layers []v1alpha1.Layered) []reconcile.Request {
	var requests []reconcile.Request
	for _, layer := range layers {
		if layer.LayerKind() == kind {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(layer)})
		}
	}
	return requests
}

// Later queues what the mapping gives after a window, in which further events of the same
// object add nothing.
func Later(window time.Duration, to handler.MapFunc) handler.EventHandler {
	add := func(ctx context.Context, o client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		for _, request := range to(ctx, o) {
			queue.AddAfter(request, window)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(ctx, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(ctx, e.Object, q)
		},
	}
}
