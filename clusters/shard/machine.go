package shard

import (
	"errors"
	"math/rand/v2"
	"time"
)

// ErrShardCount means that the hub's replicas agree on another number of shards. With two
// numbers a member would be in two shards, and have two owners.
var ErrShardCount = errors.New("another number of shards is in use")

// errNameTaken means that another process runs under this replica's name, or did until it
// ended without saying so.
var errNameTaken = errors.New("waiting to join: another process has this replica's name")

// machine decides what one replica does: which Leases it writes and when, and which shards
// it holds. It is told what happened and when, and says what is to be done. It has no client,
// goroutine, clock or lock; one goroutine drives it.
//
// After any number of events the driver calls advance, does what ready says, and calls
// advance again when there is an event, or at wake. All times are the local clock's.
type machine struct {
	cfg      ReplicaConfig
	identity string
	random   *rand.Rand // for jitter

	synced   bool   // the first list is in
	version  string // the newest that was seen
	known    string // the newest that was seen before the last list was asked for
	stopping bool
	leaveBy  time.Time // when stopping, the hand-over waits no longer for the membership
	agreed   bool      // the record has once been seen with our number of shards
	refusal  error     // why nothing may be owned here now
	rival    error     // why this replica has to wait before it joins

	record     slot
	membership membership
	peers      map[string]*peer // by name of Lease; not this replica
	shards     []*shard
	byLease    map[string]*shard // the same by name of Lease
	// highest is the highest epoch of any shard that any replica has seen. Each new epoch
	// exceeds it: epochs grow even where people delete Leases or set them back.
	highest int
	// members is how many members each shard has. It decides about what comes first, and about
	// nothing else: replicas may differ in it.
	members []int

	stale    bool // what wanted and holdings were made from has changed
	joined   bool // as of wanted
	wanted   []string
	holdings []Holding

	ready ready
	wake  time.Time // when there is something to do if nothing happens before; zero if never
}

// ready is what the driver has to do: the orders first, one after another, since they stop
// writes; then the calls, all at once, each of which ends in done.
type ready struct {
	orders []order
	calls  []call
	// holdings is who holds which shard, and expected which are to be this replica's, if that
	// may have changed; else nil.
	holdings []Holding
	expected []bool
}

// order changes what this replica may write.
type order struct {
	verb  orderVerb
	shard int
	epoch int
	// until is the end of ownership, of opening and extending.
	until time.Time
	// lasted is, of opening, how long the shard had no owner that was heard of; of handing
	// over, how long that took.
	lasted time.Duration
	reason Reason
}

type orderVerb int

const (
	openTenure   orderVerb = iota // writes may begin
	extendTenure                  // and go on until later
	closeTenure                   // no write may begin; say when none is under way
	cutTenure                     // and those under way are to stop
	handedOver                    // the Lease was given back
)

// call is a call for a Lease.
type call struct {
	verb  callVerb
	lease string
	term  term // of create and update
	// base is the version that is replaced or deleted.
	base  sighting
	began time.Time
}

type callVerb int

const (
	getLease callVerb = iota
	createLease
	updateLease
	deleteLease
)

// slot is a Lease. At most one call of this replica's is under way for it.
type slot struct {
	sighting
	name    string
	busy    bool
	doubted bool      // a write found the Lease otherwise than we know it: read before writing
	nextAt  time.Time // no call before
}

func newMachine(cfg ReplicaConfig) *machine {
	seed := score(cfg.identity(), 0)
	m := &machine{
		cfg:        cfg,
		identity:   cfg.identity(),
		random:     rand.New(rand.NewPCG(seed, seed)),
		record:     slot{name: recordName},
		membership: membership{slot: slot{name: replicaLeaseName(cfg.Name)}},
		peers:      map[string]*peer{},
		byLease:    map[string]*shard{},
		wanted:     make([]string, cfg.Shards),
		members:    make([]int, cfg.Shards),
	}
	for i := range cfg.Shards {
		s := &shard{slot: slot{name: shardLeaseName(i)}, index: i}
		m.shards = append(m.shards, s)
		m.byLease[s.name] = s
	}
	return m
}

// stop begins the end: the membership is given up, so that others know what will be theirs,
// and then everything is handed over.
func (m *machine) stop(now time.Time) {
	m.stopping = true
	m.leaveBy = now.Add(m.cfg.RetryPeriod)
	m.membership.nextAt = now
}

// stopped reports whether that is done.
func (m *machine) stopped() bool {
	if !m.stopping || m.record.busy || m.owesRecord() || m.membership.busy || m.membership.holder() == m.identity {
		return false
	}
	for _, s := range m.shards {
		if s.busy || s.writing || s.phase != idle || m.ours(s) {
			return false
		}
	}
	return true
}

// failure is why this replica must end, if it must.
func (m *machine) failure() error {
	if m.agreed {
		return nil // it was right when it started: it owns nothing until that is so again
	}
	return m.refusal
}

// advance decides what is due.
func (m *machine) advance(now time.Time) {
	m.wake = time.Time{}
	if !m.synced {
		return
	}
	m.watchPeers(now)
	m.watchShards(now)
	m.keepRecord(now)
	m.keepMembership(now)
	m.reassign(now)
	for _, s := range m.shards {
		m.keepShard(now, s)
	}
}

// take returns what is ready, once.
func (m *machine) take() ready {
	taken := m.ready
	m.ready = ready{}
	return taken
}

func (m *machine) order(o order) { m.ready.orders = append(m.ready.orders, o) }

// due reports whether a time has come. If not, advance is called then.
func (m *machine) due(now, at time.Time) bool {
	if !now.Before(at) {
		return true
	}
	if m.wake.IsZero() || at.Before(m.wake) {
		m.wake = at
	}
	return false
}

// callable reports whether a write may be sent for a Lease, and reads it first where that is
// necessary.
func (m *machine) callable(now time.Time, s *slot) bool {
	if s.busy || !m.due(now, s.nextAt) {
		return false
	}
	if s.doubted {
		m.send(now, s, call{verb: getLease})
		return false
	}
	return true
}

// write sends the Lease's next version.
func (m *machine) write(now time.Time, s *slot, t term) {
	verb := updateLease
	if s.sighting.lease == nil {
		verb = createLease
	}
	t.name, t.duration = s.name, m.cfg.LeaseDuration
	m.send(now, s, call{verb: verb, term: t})
}

func (m *machine) send(now time.Time, s *slot, c call) {
	s.busy = true
	c.lease, c.base, c.began = s.name, s.sighting, now
	m.ready.calls = append(m.ready.calls, c)
}

// jittered is the period or somewhat less, so that calls do not stay in step for ever.
func (m *machine) jittered(period time.Duration) time.Duration {
	return period - time.Duration(m.random.Int64N(int64(period)/5+1))
}
