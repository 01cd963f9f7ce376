package sim

import (
	"time"

	"k8s.io/utils/ptr"
)

// Bounds of what must be true in calm.
const (
	// settleBound is how long after the last trouble every member has its owner. A Lease that
	// a person deleted just before is absent for one LeaseDuration, and one of a replica that
	// crashed just before runs out after another.
	settleBound = 2*leaseDuration + 5*time.Second
	// takeoverBound is how long a crash leaves a shard without an owner.
	takeoverBound = leaseDuration + time.Second
	// handoverBound is how long a hand-over does, when writes hang of which nobody knows whether
	// the member works on them.
	handoverBound = leaseDuration + time.Second
	// aftermath is how long calls and events are under way that left in bad weather.
	aftermath = longestLatency + longestLag + time.Second
	// writtenBound is how long an owner may fail to write to a member while some of its writes
	// hang.
	writtenBound = time.Minute
	quietPeriod  = 5 * time.Second
)

// Outcome is what one schedule shows.
type Outcome struct {
	Seed      uint64
	Violation string // empty if every law held
	Timeline  string // of a violation, or where it was asked for
	Members   int
	Settled   time.Duration // from calm until every member had its owner
	Takeovers []time.Duration
	Handovers []time.Duration
	Moved     int // shards that scaling by one moved
	Least     int // and those that it had to
	Happened  counts
}

// Run runs the schedule of a seed. It must be called in a synctest bubble.
func Run(seed uint64, timeline bool) Outcome {
	s := newSchedule(seed)
	out := Outcome{Seed: seed, Members: len(s.members)}
	s.run(&out)
	s.end()
	out.Violation, out.Happened = s.timeline.violation(), s.tally.counts()
	if timeline || out.Violation != "" {
		out.Timeline = s.timeline.String()
	}
	return out
}

func (s *schedule) run(out *Outcome) {
	for range 1 + s.random.IntN(s.most) {
		s.add()
	}
	s.trouble(40 * time.Second)
	s.relieve()
	calm := time.Now()
	time.Sleep(aftermath)
	if !s.settle(settleBound - aftermath) {
		return
	}
	out.Settled = max(0, s.lastChange().Sub(calm))
	if s.rest(); s.eventually(writtenBound, s.unwritten) {
		s.scale(out)
	}
}

// settle waits until every member has exactly one owner, and loads are balanced.
func (s *schedule) settle(bound time.Duration) bool {
	time.Sleep(250 * time.Millisecond)
	defer s.timeline.note("all", "settled")
	return s.eventually(bound, s.unsettled)
}

// eventually waits until nothing is left to be waited for, and reports whether that came within
// a bound.
func (s *schedule) eventually(bound time.Duration, left func() string) bool {
	for end := time.Now().Add(bound); ; time.Sleep(250 * time.Millisecond) {
		what := left()
		if what == "" || s.timeline.violation() != "" {
			return what == ""
		}
		if time.Now().After(end) {
			s.timeline.violate("all", "after %s: %s", bound, what)
			s.describeLeases()
			return false
		}
	}
}

// rest looks on while nothing happens: Leases are renewed, and nothing moves.
func (s *schedule) rest() {
	s.takeGaps()
	before := s.hub.writes()
	time.Sleep(quietPeriod)
	leases := s.shards + len(s.replicas)
	if n := s.hub.writes() - before; n < 2*leases || n > 4*leases {
		s.timeline.violate("hub", "%d writes for %d Leases in %s", n, leases, quietPeriod)
	}
	if _, moves := s.takeGaps(); moves > 0 {
		s.timeline.violate("all", "%d changes of ownership at rest", moves)
	}
}

// scale adds or takes away one replica, and looks at what moves, and for how long it has no
// owner.
func (s *schedule) scale(out *Outcome) {
	holders, loads := s.holders()
	bound, gaps := handoverBound, &out.Handovers
	switch choice := s.random.IntN(3); {
	case choice == 0 && len(s.replicas) > 1:
		s.crash(s.pick())
		bound, gaps = takeoverBound, &out.Takeovers
	case choice == 1 && len(s.replicas) > 1:
		s.leave(s.pick())
	default:
		s.tally.count(joins)
		s.add()
	}
	if !s.settle(bound + 2*time.Second) {
		return
	}
	time.Sleep(quietPeriod)
	now, _ := s.holders()
	for shard := range holders {
		if holders[shard] != now[shard] {
			out.Moved++
		}
	}
	out.Least = s.leastMoves(loads)
	var moves int
	if *gaps, moves = s.takeGaps(); out.Moved != out.Least || moves != 2*out.Moved {
		s.timeline.violate("all", "%d shards moved, in %d changes of ownership; %d had to", out.Moved, moves, out.Least)
	}
	for _, gap := range *gaps {
		if gap > bound {
			s.timeline.violate("all", "a shard had no owner for %s, longer than %s", gap, bound)
		}
	}
}

// describeLeases notes what the hub has.
func (s *schedule) describeLeases() {
	list := s.hub.list()
	for n := range list.Items {
		lease := smallest(list.Items, n)
		s.timeline.note("hub", "%s at %s: held by %q in epoch %d, annotations %v", lease.Name, lease.ResourceVersion,
			ptr.Deref(lease.Spec.HolderIdentity, ""), ptr.Deref(lease.Spec.LeaseTransitions, 0), lease.Annotations)
	}
}
