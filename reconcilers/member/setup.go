package member

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/criteria"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// rememberedFolds is how many different stacks a replica keeps folded.
const rememberedFolds = 512

// Config is what the member controllers are made of.
type Config struct {
	// Revisions reads what layers say.
	Revisions *revision.Store
	// HubID and Identity are those of the connections, SystemNamespace is where the manager
	// runs.
	HubID, Identity, SystemNamespace string
	// AllowDuplicates serves a cluster that is registered more than once under each name.
	AllowDuplicates bool
	// OrphanAfter is how long a deleted layer waits for a member that cannot be reached.
	OrphanAfter time.Duration
	// Concurrency is how many members are served at the same time.
	Concurrency int
}

// Setup adds the controllers to the manager: one that connects members, one that follows the
// ownership of shards, one that follows the red button, and one that serves members. They
// run on every replica, for the members that it owns.
func Setup(ctx context.Context, mgr mcmanager.Manager, connections *Connections, config Config) error {
	layer.Builtin() // takes its time now, and not when the first member has lost its owner
	local := mgr.GetLocalManager()
	connections.client = local.GetClient()
	if err := connections.setUp(ctx, mgr); err != nil {
		return err
	}
	reconciler := &Reconciler{
		Client: local.GetClient(), Revisions: config.Revisions, Members: connections.provider, Ownership: connections.config.Replica,
		Folds: layer.NewCache(rememberedFolds), Criteria: criteria.NewCache(),
		Events: local.GetEventRecorder("syncline"),
		HubID:  config.HubID, Identity: config.Identity, SystemNamespace: config.SystemNamespace,
		AllowDuplicates: config.AllowDuplicates, OrphanAfter: config.OrphanAfter, Clock: clock.RealClock{}, ledger: newLedger(),
	}
	ctrl, err := mccontroller.NewUnmanaged("member", mgr, mccontroller.Options{
		Reconciler: reconciler, MaxConcurrentReconciles: config.Concurrency,
		RateLimiter: hub.RateLimiter[mcreconcile.Request](), UsePriorityQueue: hub.UsePriorityQueue(),
	})
	if err != nil {
		return fmt.Errorf("member controller: %w", err)
	}
	if err := mgr.Add(everywhere{ctrl}); err != nil {
		return fmt.Errorf("member controller: %w", err)
	}
	cache := local.GetCache()
	sources := []source.TypedSource[mcreconcile.Request]{
		&connections.members,
		source.TypedKind(cache, client.Object(&v1alpha1.MemberCluster{}), enqueue(reconciler.memberAndTwins), memberChanged()),
		source.TypedKind(cache, client.Object(&v1alpha1.Layer{}), enqueue(reconciler.membersOf), layerChanged()),
		source.TypedKind(cache, client.Object(&v1alpha1.ClusterLayer{}), enqueue(reconciler.membersOf), layerChanged()),
		source.TypedKind(cache, client.Object(&v1alpha1.LayerBinding{}), enqueue(memberOfBinding), lifeChanged()),
		source.TypedKind(cache, client.Object(&v1alpha1.Federation{}), enqueue(reconciler.allMembers), generationChanged()),
	}
	for _, src := range sources {
		if err := ctrl.Watch(src); err != nil {
			return fmt.Errorf("member controller: %w", err)
		}
	}
	return nil
}

func (c *Connections) setUp(ctx context.Context, mgr mcmanager.Manager) error {
	local := mgr.GetLocalManager()
	if err := c.countMembers(ctx, local.GetCache()); err != nil {
		return fmt.Errorf("members: %w", err)
	}
	if err := local.Add(running(func(ctx context.Context) error { return c.provider.Run(ctx, mgr) })); err != nil {
		return fmt.Errorf("members: %w", err)
	}
	err := builder.ControllerManagedBy(local).
		Named("connection").
		For(&v1alpha1.MemberCluster{}, builder.WithPredicates(memberChanged())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(c.membersOfSecret)).
		WatchesRawSource(&c.secrets).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 32, RateLimiter: hub.RateLimiter[reconcile.Request](), NeedLeaderElection: ptr.To(false),
		}).
		Complete(c)
	if err != nil {
		return fmt.Errorf("connection controller: %w", err)
	}
	err = builder.ControllerManagedBy(local).
		Named("red-button").
		For(&v1alpha1.Federation{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{NeedLeaderElection: ptr.To(false)}).
		Complete(reconcile.Func(c.followFederation))
	if err != nil {
		return fmt.Errorf("red-button controller: %w", err)
	}
	err = builder.TypedControllerManagedBy[int](local).
		Named("ownership").
		WatchesRawSource(&c.shards).
		WithOptions(controller.TypedOptions[int]{NeedLeaderElection: ptr.To(false), UsePriorityQueue: hub.UsePriorityQueue()}).
		Complete(reconcile.TypedFunc[int](c.followShard))
	if err != nil {
		return fmt.Errorf("ownership controller: %w", err)
	}
	return nil
}

// countMembers tells the replica which members there are.
func (c *Connections) countMembers(ctx context.Context, informers cache.Informers) error {
	members, err := informers.GetInformer(ctx, &v1alpha1.MemberCluster{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	_, err = members.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { c.config.Replica.AddMember(keyOfObject(o)) },
		DeleteFunc: func(o any) { c.config.Replica.RemoveMember(keyOfObject(o)) },
	})
	return err
}

// keyOfObject is the name of what an informer tells of, also where it has missed the end of it.
func keyOfObject(o any) types.NamespacedName {
	name, _ := toolscache.DeletionHandlingObjectToName(o) // it is a MemberCluster
	return name.AsNamespacedName()
}

// everywhere is a controller that runs on every replica, leader or not. What its options say
// of that multicluster-runtime (v0.24.1) hides from the manager.
type everywhere struct{ mccontroller.Controller }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everywhere) NeedLeaderElection() bool { return false }

// running is the like for a function.
type running func(context.Context) error

// Start implements manager.Runnable.
func (run running) Start(ctx context.Context) error { return run(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (running) NeedLeaderElection() bool { return false }

// membersOfSecret maps a kubeconfig Secret to the members that name it.
func (c *Connections) membersOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	var members v1alpha1.MemberClusterList
	if err := c.client.List(ctx, &members, client.InNamespace(secret.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "a rotated kubeconfig may be noticed late")
		return nil
	}
	var requests []reconcile.Request
	for _, m := range members.Items {
		if m.Spec.KubeconfigSecret == secret.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&m)})
		}
	}
	return requests
}

// enqueue makes a handler of a mapping from an object to members.
func enqueue(members func(context.Context, client.Object) []types.NamespacedName) handler.TypedEventHandler[client.Object, mcreconcile.Request] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []mcreconcile.Request {
		var requests []mcreconcile.Request
		for _, key := range members(ctx, o) {
			requests = append(requests, requestFor(key))
		}
		return requests
	})
}

func requestFor(key types.NamespacedName) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: member.ClusterName(key)}
}

// keyOf is the member that a cluster name means.
func keyOf(name multicluster.ClusterName) (types.NamespacedName, error) {
	namespace, cluster, found := strings.Cut(name.String(), "/")
	if !found || namespace == "" || cluster == "" {
		return types.NamespacedName{}, fmt.Errorf("cluster name %q is not <namespace>/<name>", name)
	}
	return types.NamespacedName{Namespace: namespace, Name: cluster}, nil
}

// memberAndTwins are a member and those that are the same cluster: they have to know of each
// other.
func (r *Reconciler) memberAndTwins(ctx context.Context, o client.Object) []types.NamespacedName {
	keys := []types.NamespacedName{client.ObjectKeyFromObject(o)}
	uid := o.(*v1alpha1.MemberCluster).Status.UID
	if uid == "" {
		return keys
	}
	same, err := hub.MembersWithUID(ctx, r.Client, uid)
	if err != nil {
		log.FromContext(ctx).Error(err, "a cluster that is registered twice may be noticed late")
	}
	for i := range same {
		if key := client.ObjectKeyFromObject(&same[i]); key != keys[0] {
			keys = append(keys, key)
		}
	}
	return keys
}

func memberOfBinding(_ context.Context, o client.Object) []types.NamespacedName {
	return []types.NamespacedName{hub.MemberOf(o.(*v1alpha1.LayerBinding))}
}

// membersOf are the members within a layer's reach, those that it no longer selects
// included: they have to let it go.
func (r *Reconciler) membersOf(ctx context.Context, o client.Object) []types.NamespacedName {
	return r.membersWithin(ctx, o.GetNamespace())
}

func (r *Reconciler) allMembers(ctx context.Context, _ client.Object) []types.NamespacedName {
	return r.membersWithin(ctx, "")
}

func (r *Reconciler) membersWithin(ctx context.Context, namespace string) []types.NamespacedName {
	var members v1alpha1.MemberClusterList
	if err := r.Client.List(ctx, &members, client.InNamespace(namespace)); err != nil {
		log.FromContext(ctx).Error(err, "a changed layer may be noticed late")
		return nil
	}
	keys := make([]types.NamespacedName, 0, len(members.Items))
	for i := range members.Items {
		keys = append(keys, client.ObjectKeyFromObject(&members.Items[i]))
	}
	return keys
}
