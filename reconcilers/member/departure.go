package member

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// departure is a layer that leaves the member.
type departure struct {
	binding *v1alpha1.LayerBinding
	// layer is nil once it is gone.
	layer v1alpha1.Layered
	// deserted says that the layer is not being deleted, and selects nobody any more.
	deserted bool
}

// deleted says whether the layer is being deleted, or gone.
func (d departure) deleted() bool {
	return d.layer == nil || !d.layer.GetDeletionTimestamp().IsZero()
}

// departure finds out why a layer leaves.
func (r *Reconciler) departure(ctx context.Context, binding *v1alpha1.LayerBinding) (departure, error) {
	d := departure{binding: binding}
	l, err := hub.Get(ctx, r.Client, binding.Spec.Layer, binding.Namespace)
	if apierrors.IsNotFound(err) {
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("read layer: %w", err)
	}
	d.layer = l
	if d.deleted() {
		return d, nil
	}
	selected, err := hub.Selected(ctx, r.Client, l)
	d.deserted = len(selected) == 0
	return d, err
}

// overdue says for how long yet a deleted layer waits for a member that cannot be reached;
// false if it does not wait for that.
func (r *Reconciler) overdue(p *pass, d departure) (left time.Duration, waits bool) {
	if !d.deleted() || p.connection.usable() || p.settling() {
		return 0, false
	}
	since := p.lastSeen().Time
	if d.layer != nil && d.layer.GetDeletionTimestamp().After(since) {
		since = d.layer.GetDeletionTimestamp().Time
	}
	return max(since.Add(r.OrphanAfter).Sub(p.now), 0), true
}

// giveUp lets the binding of a deleted layer go although its objects are still on the member,
// and records them as orphans: the member has been out of reach for too long.
func (r *Reconciler) giveUp(ctx context.Context, p *pass, d departure, left entries) error {
	released, err := r.letGo(ctx, p.snapshot, d.binding)
	if err != nil || !released {
		return err
	}
	ref := refOf(d.binding)
	p.orphans = append(p.orphans, left.describe(ref)...)
	r.tellOrphans(ctx, p.snapshot, d.binding, fmt.Sprintf("member %s was not reachable for %s", p.key, r.OrphanAfter), left)
	return nil
}

// addOrphans adds to what a member's status tells of orphans.
func addOrphans(known *v1alpha1.Orphans, more []string, now metav1.Time) *v1alpha1.Orphans {
	const most = 20
	if len(more) == 0 {
		return known
	}
	sum := v1alpha1.Orphans{Since: now}
	if known != nil {
		sum.Count, sum.Objects = known.Count, known.Objects
	}
	sum.Count += int32(len(more))
	sum.Objects = append(sum.Objects[:len(sum.Objects):len(sum.Objects)], more...)
	sum.Objects = sum.Objects[:min(len(sum.Objects), most)]
	return &sum
}

// letGo takes the finalizer off a binding and deletes it. It reports whether this pass did:
// the cache may still show a binding that an earlier one let go.
func (r *Reconciler) letGo(ctx context.Context, snap *snapshot, binding *v1alpha1.LayerBinding) (bool, error) {
	if err := r.mayStillWrite(snap); err != nil {
		return false, err
	}
	delete(r.ledger.of(snap.key).pace, binding.Name)
	after := binding.DeepCopy()
	released := controllerutil.RemoveFinalizer(after, v1alpha1.Finalizer)
	if released {
		patch := client.MergeFromWithOptions(binding, client.MergeFromWithOptimisticLock{})
		err := r.Client.Patch(ctx, after, patch)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("release binding %s: %w", binding.Name, err)
		}
	}
	if !binding.DeletionTimestamp.IsZero() {
		return released, nil
	}
	err := r.Client.Delete(ctx, after, client.Preconditions{UID: &binding.UID})
	if client.IgnoreNotFound(err) != nil {
		return released, fmt.Errorf("delete binding %s: %w", binding.Name, err)
	}
	return released, nil
}

// release lets the bindings of a member go that is no longer registered. Nothing can be
// undone on it; what it keeps is recorded on the layers.
func (r *Reconciler) release(ctx context.Context, snap *snapshot) error {
	for _, d := range snap.leaving {
		// What cannot be read is no reason to hold up the deletion of a cluster.
		lists, err := listsOf(d.binding)
		if err != nil {
			log.FromContext(ctx).Error(err, "the objects that stay on the member are not known")
		}
		released, err := r.letGo(ctx, snap, d.binding)
		if err != nil {
			return err
		}
		if left := lists[refOf(d.binding)]; released && len(left) > 0 {
			r.tellOrphans(ctx, snap, d.binding, fmt.Sprintf("member %s left", snap.key), left)
		}
	}
	r.ledger.close(snap.key)
	return nil
}

// tellOrphans names what stays on a member that is gone, for as long as events live.
func (r *Reconciler) tellOrphans(ctx context.Context, snap *snapshot, binding *v1alpha1.LayerBinding, why string, left entries) {
	const most = 10
	names := left.describe(layer.Ref{})
	log.FromContext(ctx).Info("objects stay on a member that is gone", "member", snap.key.String(),
		"binding", binding.Name, "objects", len(names), "why", why)
	l, err := hub.Get(ctx, r.Client, binding.Spec.Layer, binding.Namespace)
	if err != nil {
		return // the layer is gone too: the log line above is what remains
	}
	r.Events.Eventf(l, binding, corev1.EventTypeWarning, "Orphaned", "Unregister",
		"%s; %d objects stay on it: %s", why, len(names), strings.Join(names[:min(len(names), most)], ", "))
}
