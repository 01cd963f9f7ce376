package observation

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
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

// concurrency is how many members are observed at the same time: one that hangs holds a worker
// until the probe finds it away.
const concurrency = 16

// Config is what the controller is made of.
type Config struct {
	// Ownership, Members and Identity are those of the Reconciler.
	Ownership Ownership
	Members   Members
	Identity  string
	// States compiles assertions.
	States *assertion.Cache
}

// Setup adds the controller to the manager. It runs on every replica.
func Setup(mgr manager.Manager, config Config) error {
	r := &Reconciler{
		Client: mgr.GetClient(), Ownership: config.Ownership, Members: config.Members, Identity: config.Identity,
		States: config.States, Clock: clock.RealClock{},
	}
	err := builder.ControllerManagedBy(mgr).
		Named("observation").
		For(&v1alpha1.MemberCluster{}, builder.WithPredicates(memberMoved())).
		Watches(&v1alpha1.StateAssertion{}, handler.EnqueueRequestsFromMapFunc(r.membersOf), builder.WithPredicates(questionChanged())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency, RateLimiter: hub.RateLimiter[reconcile.Request](), NeedLeaderElection: ptr.To(false),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("observation controller: %w", err)
	}
	return nil
}

// memberMoved passes what changes who observes a member, whether it can be, or for which
// assertions.
func memberMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, new := e.ObjectOld.(*v1alpha1.MemberCluster), e.ObjectNew.(*v1alpha1.MemberCluster)
		return !maps.Equal(old.Labels, new.Labels) ||
			!equality.Semantic.DeepEqual(old.Status.Owner, new.Status.Owner) ||
			old.Status.UID != new.Status.UID ||
			reachable(old) != reachable(new)
	}}
}

func reachable(m *v1alpha1.MemberCluster) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReachable)
}

// questionChanged passes what changes what is asked, and how often.
func questionChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, new := e.ObjectOld.(*v1alpha1.StateAssertion), e.ObjectNew.(*v1alpha1.StateAssertion)
		return old.Generation != new.Generation || old.Status.Holds != new.Status.Holds
	}}
}

// membersOf are the members within an assertion's reach, those that it no longer selects
// included: what was observed of them for it goes.
func (r *Reconciler) membersOf(ctx context.Context, o client.Object) []reconcile.Request {
	var members v1alpha1.MemberClusterList
	if err := r.Client.List(ctx, &members, client.InNamespace(o.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "members may be observed late")
		return nil
	}
	requests := make([]reconcile.Request, len(members.Items))
	for i := range members.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&members.Items[i])
	}
	return requests
}
