package registration

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// clusterCRD is the CustomResourceDefinition whose presence means that Cluster API is
// installed, now or later than the manager started.
const clusterCRD = "clusters.cluster.x-k8s.io"

// Setup adds the controller to the manager. Cluster API's Clusters are watched from the
// moment that their CRD serves the version we read.
func Setup(mgr manager.Manager, options registration.Options) error {
	follow := &clusterAPIFollower{mgr: mgr}
	reconciler := &Reconciler{Client: mgr.GetClient(), Options: options, ClusterAPI: follow.state, Clock: clock.RealClock{}}
	ctrl, err := builder.ControllerManagedBy(mgr).
		Named("registration").
		For(&v1alpha1.MemberCluster{}, builder.WithPredicates(specOrLabelsChanged[client.Object]())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(memberOfSecret)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4, RateLimiter: hub.RateLimiter[reconcile.Request]()}).
		Build(reconciler)
	if err != nil {
		return fmt.Errorf("registration controller: %w", err)
	}
	follow.ctrl = ctrl
	if err := builder.ControllerManagedBy(mgr).
		Named("cluster-api").
		For(&apiextensionsv1.CustomResourceDefinition{}, builder.OnlyMetadata, builder.WithPredicates(named(clusterCRD))).
		Complete(follow); err != nil {
		return fmt.Errorf("cluster-api controller: %w", err)
	}
	return nil
}

// memberOfSecret maps a Secret to its member by name: what a Secret says of itself is read
// in the pass, so that one that stops being a member's is noticed too.
func memberOfSecret(_ context.Context, secret client.Object) []reconcile.Request {
	name, isKubeconfig := strings.CutSuffix(secret.GetName(), registration.SecretSuffix)
	if !isKubeconfig || name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: secret.GetNamespace(), Name: name}}}
}
