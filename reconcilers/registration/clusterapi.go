package registration

import (
	"context"
	"fmt"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// clusterAPI is what is known of Cluster API on the hub.
type clusterAPI int32

const (
	// undecided: its CRD may be there, and nobody has looked into it yet. A member's labels
	// and pause may be those of a Cluster, and must not be judged without it.
	undecided clusterAPI = iota
	// absent: there is no CRD, or it does not serve the version that we read.
	absent
	// watched: Clusters can be read.
	watched
)

// clusterAPIFollower starts the watch on Clusters once their CRD is there.
type clusterAPIFollower struct {
	mgr  manager.Manager
	ctrl controller.Controller
	seen atomic.Int32 // a clusterAPI, once the CRD has been looked into
}

// state says what is known now. The error is one of reading the hub's cache.
func (f *clusterAPIFollower) state(ctx context.Context) (clusterAPI, error) {
	if seen := clusterAPI(f.seen.Load()); seen != undecided {
		return seen, nil
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := f.mgr.GetClient().Get(ctx, client.ObjectKey{Name: clusterCRD}, crd)
	switch {
	case apierrors.IsNotFound(err):
		return absent, nil
	case err != nil:
		return undecided, fmt.Errorf("look for Cluster API: %w", err)
	}
	return undecided, nil
}

// Reconcile is called when Cluster API's CRD appears or changes.
func (f *clusterAPIFollower) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if clusterAPI(f.seen.Load()) == watched {
		return reconcile.Result{}, nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := f.mgr.GetAPIReader().Get(ctx, req.NamespacedName, &crd); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !servesOurVersion(&crd) {
		f.seen.Store(int32(absent))
		return reconcile.Result{}, nil
	}
	if err := f.ctrl.Watch(source.Kind(f.mgr.GetCache(), &clusterv1.Cluster{},
		&handler.TypedEnqueueRequestForObject[*clusterv1.Cluster]{}, specOrLabelsChanged[*clusterv1.Cluster]())); err != nil {
		return reconcile.Result{}, fmt.Errorf("watch Clusters: %w", err)
	}
	f.seen.Store(int32(watched))
	return reconcile.Result{}, nil
}

func servesOurVersion(crd *apiextensionsv1.CustomResourceDefinition) bool {
	established := false
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			established = condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	for _, version := range crd.Spec.Versions {
		if version.Name == clusterv1.GroupVersion.Version && version.Served {
			return established
		}
	}
	return false
}
