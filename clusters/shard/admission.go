package shard

import (
	"context"

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

// Begin implements member.Admission. The write's context ends earlier than ownership when a
// hand-over cannot wait any longer. A hand-over waits for writes to end, and for the time
// that those may take which were not answered.
func (a Admission) Begin(ctx context.Context) (write context.Context, done func(answered bool), err error) {
	t, _ := a.replica.tenure(a.shard)
	if t == nil {
		return nil, nil, errNotHeld
	}
	return t.begin(ctx)
}
