package aggregation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/view"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// layerReconciler keeps the status of the layers of one kind.
type layerReconciler struct {
	client client.Client
	clock  clock.PassiveClock
	kind   string
}

// Reconcile sums up one layer.
func (r *layerReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	layer := hub.New(r.kind)
	if err := r.client.Get(ctx, req.NamespacedName, layer); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	selected, err := hub.Selected(ctx, r.client, layer)
	if err != nil {
		return reconcile.Result{}, err
	}
	bindings, err := hub.BindingsOfLayer(ctx, r.client, layer)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := layer.DeepCopyObject().(v1alpha1.Layered)
	*layer.LayerStatus() = view.Layer(layer, selected, bindings, metav1.NewTime(r.clock.Now()))
	_, err = hub.PatchStatus(ctx, r.client, before, layer)
	return hub.Outcome(err)
}
