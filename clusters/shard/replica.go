package shard

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// Ownership is this replica's hold of a shard.
type Ownership struct {
	Shard int
	// Epoch grows with each owner of the shard, on whichever replica: it is the Lease's
	// leaseTransitions. It exceeds all earlier ones of the shard, but need not follow them.
	Epoch int
	// Since is when it began, by this machine's clock.
	Since time.Time
	// Reason is why it began.
	Reason Reason
}

// Holding is who owns a shard, as far as this replica sees.
type Holding struct {
	Shard int
	// Replica is the name of the owner; empty if there is none that lives.
	Replica string
	Epoch   int
	// Since is when this replica saw that it became so.
	Since time.Time
}

// Reason is why ownership of a shard began or ended.
type Reason string

// Reasons.
const (
	ReasonAssigned   Reason = "Assigned"   // it was given back by its last owner, or had none
	ReasonTakeover   Reason = "Takeover"   // its last owner is not heard of any more
	ReasonHandedOver Reason = "HandedOver" // it is another replica's by assignment, or this one stops
	ReasonExpired    Reason = "Expired"    // the Lease was not renewed in time
	ReasonTaken      Reason = "Taken"      // the Lease is another's, or gone
)

// Change is a beginning or an end of ownership here.
type Change struct {
	Ownership
	// Owned is true of a beginning.
	Owned  bool
	Reason Reason
}

// Replica owns shards together with the other replicas of the hub. It is safe for concurrent
// use.
type Replica struct {
	cfg     ReplicaConfig
	inbox   *inbox
	changed []func(Change)
	moved   []func(Holding)
	awaited []func(shard int)
	leave   func() // closes leaving
	leaving chan struct{}
	left    chan struct{} // closed when Start has returned

	mu     sync.RWMutex
	locked lockedReplica
}

type lockedReplica struct {
	tenures  []*tenure       // by shard; nil where there was none. The last may have ended
	changed  []chan struct{} // by shard; closed and replaced when the tenure changes
	holdings []Holding
	expected []bool // by shard
	started  bool
	joined   bool
	refusal  error // the number of shards is not the hub's
	rival    error // another process has this name
	failure  error // the last call failed
}

// NewReplica returns a replica that owns nothing before Start.
func NewReplica(cfg ReplicaConfig) (*Replica, error) {
	cfg, err := cfg.validated()
	if err != nil {
		return nil, err
	}
	r := &Replica{cfg: cfg, inbox: newInbox(), leaving: make(chan struct{}), left: make(chan struct{})}
	r.leave = sync.OnceFunc(func() { close(r.leaving) })
	r.locked.tenures, r.locked.expected = make([]*tenure, cfg.Shards), make([]bool, cfg.Shards)
	for range cfg.Shards {
		r.locked.changed = append(r.locked.changed, make(chan struct{}))
	}
	return r, nil
}

// OnChange has a function called after each change of ownership, in order. It must return at
// once. Call it before Start.
func (r *Replica) OnChange(notify func(Change)) { r.changed = append(r.changed, notify) }

// OnMove has a function called when this replica has seen that a shard has another owner, in
// another epoch, or none. It must return at once. Call it before Start.
func (r *Replica) OnMove(notify func(Holding)) { r.moved = append(r.moved, notify) }

// OnExpect has a function called when a shard is to be this replica's from now on, or no more,
// whoever owns it at the time. It must return at once. Call it before Start.
func (r *Replica) OnExpect(notify func(shard int)) { r.awaited = append(r.awaited, notify) }

// ShardOf is the shard of a member.
func (r *Replica) ShardOf(member types.NamespacedName) int { return Of(member, r.cfg.Shards) }

// Owns reports whether this replica owns a member now, and since when.
func (r *Replica) Owns(member types.NamespacedName) (Ownership, bool) {
	t, _ := r.tenure(Of(member, r.cfg.Shards))
	if t == nil || !t.valid() {
		return Ownership{}, false
	}
	return t.Ownership, true
}

// Expects reports whether a member is to be this replica's: it is, or will be as soon as its
// owner has handed it over. Until then this replica can prepare for it.
func (r *Replica) Expects(member types.NamespacedName) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.locked.expected[Of(member, r.cfg.Shards)]
}

// Holding is who owns a member, as far as this replica sees; false before it has seen
// anything.
func (r *Replica) Holding(member types.NamespacedName) (Holding, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.locked.holdings == nil {
		return Holding{}, false
	}
	return r.locked.holdings[Of(member, r.cfg.Shards)], true
}

// AddMember tells of a member that there is. Shards that have some are handed over first.
func (r *Replica) AddMember(member types.NamespacedName) { r.count(member, 1) }

// RemoveMember tells that a member is no more.
func (r *Replica) RemoveMember(member types.NamespacedName) { r.count(member, -1) }

func (r *Replica) count(member types.NamespacedName, more int) {
	shard := r.ShardOf(member)
	r.inbox.put(func(m *machine, _ time.Time) { m.members[shard] += more })
}

// Surpass has this replica own a shard in an epoch that exceeds one that a member was owned in,
// if it owns the shard. It returns at once; the tenure ends and another begins.
func (r *Replica) Surpass(shard, epoch int) {
	r.inbox.put(func(m *machine, now time.Time) { m.surpass(now, shard, epoch) })
}

// tenure is the current or last tenure of a shard, nil if none, and a channel that is closed
// when there is another.
func (r *Replica) tenure(shard int) (*tenure, <-chan struct{}) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.locked.tenures[shard], r.locked.changed[shard]
}

var errNotJoined = errors.New("this replica has not joined the others yet")

// Ready is nil once this replica takes part, and otherwise says what keeps it from that.
func (r *Replica) Ready() error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	trouble := errors.Join(r.locked.refusal, r.locked.rival, r.locked.failure)
	if trouble == nil && !r.locked.joined {
		return errNotJoined
	}
	return trouble
}

// Leave hands everything over, as the end of Start's context does, and returns when that is
// done: within LeaseDuration. Who writes to members should go on until then, since a write
// that is cut off costs the next owner a wait.
func (r *Replica) Leave() {
	r.leave()
	r.mu.RLock()
	started := r.locked.started
	r.mu.RUnlock()
	if started {
		<-r.left
	}
}

// Start takes part until ctx is done or Leave is called. It is called once. In the end it
// hands everything over, gives up its membership and returns: within LeaseDuration, after
// which nothing that it left undone matters. Its only error is ErrShardCount, and that only
// at the start.
func (r *Replica) Start(ctx context.Context) error {
	r.mu.Lock()
	r.locked.started = true
	r.mu.Unlock()
	defer close(r.left)
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	log := logf.FromContext(ctx).WithName("shard").WithValues("replica", r.cfg.identity())
	running.Go(func() { r.watch(work, log) })
	l := &loop{
		Replica: r,
		machine: newMachine(r.cfg),
		log:     log,
		begin:   func(c call) { running.Go(func() { r.call(work, log, c) }) },
	}
	defer l.endAll()
	return l.run(ctx)
}
