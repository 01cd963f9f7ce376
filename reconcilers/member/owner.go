package member

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/clusters/shard"
)

// ownerOf is what a member's status says of the ownership under which it is served.
func (r *Reconciler) ownerOf(snap *snapshot) *v1alpha1.MemberOwner {
	return &v1alpha1.MemberOwner{
		Replica: r.Identity,
		Shard:   int32(snap.owner.Shard),
		Epoch:   int64(snap.owner.Epoch),
		Since:   metav1.NewTime(snap.owner.Since).Rfc3339Copy(),
	}
}

// laterEpoch is an epoch in which the member was owned and which ours does not exceed; 0 if
// there is none. No Lease can tell of it any more: people have deleted them, or another
// number of shards has put the member into another shard.
func (r *Reconciler) laterEpoch(snap *snapshot) int {
	latest := int64(0)
	for _, binding := range snap.bindings() {
		if binding != nil && binding.Status.Epoch > int64(snap.owner.Epoch) {
			latest = max(latest, binding.Status.Epoch)
		}
	}
	if snap.member == nil || snap.member.Status.Owner == nil {
		return int(latest)
	}
	ours, last := r.ownerOf(snap), snap.member.Status.Owner
	if last.Epoch > ours.Epoch || last.Epoch == ours.Epoch && !equality.Semantic.DeepEqual(last, ours) {
		latest = max(latest, last.Epoch)
	}
	return int(latest)
}

// mayStillWrite fails once the ownership of a pass has ended: what it would say of the member
// is another's to say.
func (r *Reconciler) mayStillWrite(snap *snapshot) error {
	if now, owned := r.Ownership.Owns(snap.key); !owned || now.Epoch != snap.owner.Epoch {
		return fmt.Errorf("%w: ownership ended while it was served", member.ErrNotOwner)
	}
	return nil
}

// tellOwner tells people, on the member, that it has another owner.
func (r *Reconciler) tellOwner(snap *snapshot) {
	last := cmp.Or(snap.member.Status.Owner, &v1alpha1.MemberOwner{})
	if last.Epoch == int64(snap.owner.Epoch) {
		return
	}
	kind, note := corev1.EventTypeNormal, "%s keeps the member from now on (shard %d, epoch %d)"
	switch {
	case snap.owner.Reason == shard.ReasonTakeover && last.Replica != "":
		kind, note = corev1.EventTypeWarning, note+", since "+last.Replica+" was not heard of any more"
	case last.Replica != "" && last.Replica != r.Identity:
		note += ", after " + last.Replica
	}
	r.Events.Eventf(snap.member, nil, kind, "Owner"+string(snap.owner.Reason), "Own", note, r.Identity, snap.owner.Shard, snap.owner.Epoch)
}
