package hub

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
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
