package ownership

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// Replica sees who owns members. *shard.Replica is one.
type Replica interface {
	// Holding is who owns a member; false before anything has been seen.
	Holding(key types.NamespacedName) (shard.Holding, bool)
	// ShardOf is the member's shard.
	ShardOf(key types.NamespacedName) int
	// Ready says what keeps the replica from seeing or owning anything; nil if nothing does.
	Ready() error
}

// Reconciler says of the members of one shard whether they have an owner.
type Reconciler struct {
	// Client reads MemberClusters from the cache.
	Client client.Client
	// Replica sees who owns what.
	Replica Replica
	// Bound is how long a member may be without an owner.
	Bound time.Duration
	// Clock says for how long one has been, and Began from when on that counts.
	Clock clock.PassiveClock
	Began time.Time
}

// Reconcile judges the members of a shard.
func (r *Reconciler) Reconcile(ctx context.Context, shard int) (reconcile.Result, error) {
	var members v1alpha1.MemberClusterList
	if err := r.Client.List(ctx, &members, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list members: %w", err)
	}
	var again time.Duration
	ownerless := 0
	for i := range members.Items {
		member := &members.Items[i]
		if r.Replica.ShardOf(client.ObjectKeyFromObject(member)) != shard {
			continue
		}
		missing, left := r.judge(member)
		if left > 0 {
			again = max(again, left)
			continue
		}
		if missing != "" {
			ownerless++
		}
		if err := r.record(ctx, member, missing); err != nil {
			return hub.Outcome(err)
		}
	}
	count(shard, ownerless)
	return reconcile.Result{RequeueAfter: again}, nil
}

// judge says why the member has no owner, empty if it has one. Left is for how long it may yet
// be without.
func (r *Reconciler) judge(member *v1alpha1.MemberCluster) (missing string, left time.Duration) {
	key := client.ObjectKeyFromObject(member)
	holding, seen := r.Replica.Holding(key)
	if seen && holding.Replica != "" {
		return "", 0
	}
	since := r.Began
	if seen {
		since = holding.Since
	}
	if left := since.Add(r.Bound).Sub(r.Clock.Now()); left > 0 {
		return "", left
	}
	missing = fmt.Sprintf("no replica has owned shard %d for more than %s, so nobody keeps the member", r.Replica.ShardOf(key), r.Bound)
	if last := member.Status.Owner; last != nil {
		missing += "; its last owner was " + last.Replica
	}
	if trouble := r.Replica.Ready(); trouble != nil {
		return fmt.Sprintf("%s: %v", missing, trouble), 0
	}
	return missing + "; look at the Leases in the manager's namespace, and at the managers' logs", 0
}

// record writes what was judged, if the member says otherwise.
func (r *Reconciler) record(ctx context.Context, member *v1alpha1.MemberCluster, missing string) error {
	after := member.DeepCopy()
	hub.SetOnlyWhileTrue(&after.Status.Conditions, missing != "", metav1.Condition{
		Type: v1alpha1.ConditionOwnerless, Reason: "Ownerless", Message: missing, ObservedGeneration: member.Generation,
	})
	if len(after.Status.Conditions) != len(member.Status.Conditions) {
		hub.SummarizeMember(after)
	}
	_, err := hub.PatchStatus(ctx, r.Client, member, after)
	return client.IgnoreNotFound(err)
}
