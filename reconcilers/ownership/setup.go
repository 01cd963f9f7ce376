package ownership

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// Setup adds the controller to the manager. The bound is how long a member may be without an
// owner before that is said.
func Setup(mgr manager.Manager, replica *shard.Replica, bound time.Duration) error {
	var moved hub.Trigger[int]
	replica.OnMove(func(h shard.Holding) { moved.Fire(h.Shard) })
	shardOf := func(_ context.Context, o client.Object) []int {
		return []int{replica.ShardOf(client.ObjectKeyFromObject(o))}
	}
	comesOrGoes := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	clock := clock.RealClock{}
	err := builder.TypedControllerManagedBy[int](mgr).
		Named("ownerless").
		Watches(&v1alpha1.MemberCluster{}, handler.TypedEnqueueRequestsFromMapFunc(shardOf), builder.WithPredicates(comesOrGoes)).
		WatchesRawSource(&moved).
		WithOptions(controller.TypedOptions[int]{RateLimiter: hub.RateLimiter[int](), UsePriorityQueue: hub.UsePriorityQueue()}).
		Complete(&Reconciler{Client: mgr.GetClient(), Replica: replica, Bound: bound, Clock: clock, Began: clock.Now()})
	if err != nil {
		return fmt.Errorf("ownerless controller: %w", err)
	}
	return nil
}

// membersOwnerless counts by shard, so that whoever sees one knows where to look.
var membersOwnerless = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "syncline_members_ownerless",
	Help: "Members that no replica has owned for longer than a takeover takes, by shard, as the leader sees it.",
}, []string{"shard"})

func init() { metrics.Registry.MustRegister(membersOwnerless) }

// count shows a shard only while it has ownerless members.
func count(shard, ownerless int) {
	label := strconv.Itoa(shard)
	if ownerless == 0 {
		membersOwnerless.DeleteLabelValues(label)
		return
	}
	membersOwnerless.WithLabelValues(label).Set(float64(ownerless))
}
