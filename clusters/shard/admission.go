package shard

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/clusters/member"
)

// Admission admits writes to one member while this replica owns it. It is safe for concurrent
// use, and lasts as long as the replica: ownership may come and go.
type Admission struct {
	replica *Replica
	shard   int
}

var _ member.Admission = Admission{}

// Admission is the one for a member.
func (r *Replica) Admission(member types.NamespacedName) Admission {
	return Admission{replica: r, shard: Of(member, r.cfg.Shards)}
}

// Begin admits one write, or fails with member.ErrNotOwner. The write is sent with the
// context, which ends with ownership at the latest, and earlier when a hand-over cannot wait
// any longer; EpochOf knows its epoch.
//
// Done must be called once, when the write has ended. A write was answered if the member has
// sent the head of a response, or nothing was sent to it: of any other, as one that was
// cancelled, nobody knows whether the member will execute it. A hand-over waits for writes
// to end, and for the time that those may take which were not answered.
func (a Admission) Begin(ctx context.Context) (write context.Context, done func(answered bool), err error) {
	t, _ := a.replica.tenure(a.shard)
	if t == nil {
		return nil, nil, errNotHeld
	}
	return t.begin(ctx)
}

// Admit implements member.Admission for who cannot tell when a write has ended: it must have
// ended at the time given, and is taken to have had no answer. A hand-over has to wait for
// that: about LeaseDuration, instead of milliseconds.
func (a Admission) Admit() (until time.Time, err error) {
	t, _ := a.replica.tenure(a.shard)
	if t == nil {
		return time.Time{}, errNotHeld
	}
	return t.admit()
}

// EpochOf is the epoch of the write that a context was made for by Begin: what the member's
// audit log should show.
func EpochOf(ctx context.Context) (int, bool) {
	epoch, ok := ctx.Value(epochKey{}).(int)
	return epoch, ok
}
