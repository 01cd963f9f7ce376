package aggregation

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/view"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// federationReconciler keeps the one Federation. It makes it where there is none.
type federationReconciler struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile sums up all layers on all members.
func (r *federationReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	federation := &v1alpha1.Federation{}
	err := r.client.Get(ctx, req.NamespacedName, federation)
	if apierrors.IsNotFound(err) {
		federation.Name = req.Name
		err := r.client.Create(ctx, federation)
		if apierrors.IsAlreadyExists(err) {
			return reconcile.Result{}, nil // the cache will show it
		}
		return reconcile.Result{}, err
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	layers, err := hub.LayersWithin(ctx, r.client, metav1.NamespaceAll)
	if err != nil {
		return reconcile.Result{}, err
	}
	var members v1alpha1.MemberClusterList
	if err := r.client.List(ctx, &members); err != nil {
		return reconcile.Result{}, err
	}
	var bindings v1alpha1.LayerBindingList
	if err := r.client.List(ctx, &bindings); err != nil {
		return reconcile.Result{}, err
	}
	before := federation.DeepCopy()
	federation.Status = view.Federation(federation, layers, pointers(members.Items), bindings.Items, metav1.NewTime(r.clock.Now()))
	_, err = hub.PatchStatus(ctx, r.client, before, federation)
	return hub.Outcome(err)
}

func pointers(members []v1alpha1.MemberCluster) []*v1alpha1.MemberCluster {
	all := make([]*v1alpha1.MemberCluster, len(members))
	for i := range members {
		all[i] = &members[i]
	}
	return all
}
