package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// schedule is what goes wrong in one run, drawn from its seed.
type schedule struct {
	*world
	random  *rand.Rand
	most    int  // replicas at a time
	weights bool // replicas weigh 1 to 3, not all 1
	started int
}

// The worst weather.
const (
	longestLatency = 4 * time.Second
	longestLag     = 6 * time.Second
)

// calm is the weather of a good day.
var calm = weather{latency: 20 * time.Millisecond, lag: 20 * time.Millisecond}

// newSchedule draws the size of the world. Most are small: they are quick, and few replicas on
// few shards get into each other's way as many do. One in 10,000 has 20 replicas and 1,000
// members.
func newSchedule(seed uint64) *schedule {
	random := rand.New(rand.NewPCG(seed, 0))
	most, shards, members := 2+random.IntN(2), 2+random.IntN(4), 3+random.IntN(4)
	switch n := random.IntN(10000); {
	case n == 0:
		most, shards, members = 20, 64, 1000
	case n < 40:
		most, shards, members = 4+random.IntN(7), 8+random.IntN(24), 20+random.IntN(30)
	}
	s := &schedule{
		world: newWorld(seed, shards, members), random: random,
		most: most, weights: random.IntN(4) == 0,
	}
	if most >= 20 {
		s.tally.count(fullSize)
	}
	s.hanging, s.losing = 0.02, 0.3
	return s
}

// within is a random duration up to the longest.
func (s *schedule) within(longest time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(longest)))
}

func (s *schedule) pick() *replica { return s.replicas[s.random.IntN(len(s.replicas))] }

// add starts a replica under a name of its own.
func (s *schedule) add() *replica {
	s.started++
	return s.launch(fmt.Sprint("manager-", s.started))
}

func (s *schedule) launch(name string) *replica {
	s.started++
	weight := 1
	if s.weights {
		weight += s.random.IntN(3)
	}
	skew := s.within(180*time.Second) - 90*time.Second
	r := s.start(name, fmt.Sprint("i", s.started), weight, skew)
	s.replicas = append(s.replicas, r)
	return r
}

// crash is kill -9.
func (s *schedule) crash(r *replica) {
	s.timeline.note(r.name, "crashes")
	s.tally.count(crashes)
	r.kill()
	r.cancel()
	s.bury(r)
	s.lose(r)
}

// leave is SIGTERM.
func (s *schedule) leave(r *replica) {
	s.timeline.note(r.name, "is told to stop")
	s.tally.count(stops)
	r.cancel()
	s.lose(r)
}

// trouble lets things go wrong for a while.
func (s *schedule) trouble(lasts time.Duration) {
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		time.Sleep(s.within(8 * time.Second))
		s.misfortune()
	}
}

func (s *schedule) misfortune() {
	r := s.pick()
	lasts := s.within(5 * time.Second)
	if s.random.IntN(2) == 0 {
		lasts = s.within(50 * time.Second)
	}
	switch s.random.IntN(12) {
	case 0:
		if len(s.replicas) > 1 {
			s.crash(r)
		}
	case 1: // a container that is started again
		s.tally.count(restarts)
		s.crash(r)
		name, _, _ := cutInstance(r.name)
		s.launch(name)
	case 2:
		if len(s.replicas) > 1 {
			s.leave(r)
		}
	case 3:
		if len(s.replicas) < s.most {
			s.tally.count(joins)
			s.add()
		}
	case 4, 5:
		s.timeline.note(r.name, "is stopped for %s", lasts)
		s.tally.longer(lasts, pauses, pausesPastLease)
		r.awake.shut()
		time.AfterFunc(lasts, r.awake.open)
	case 6:
		s.timeline.note(r.name, "is cut off from the hub for %s", lasts)
		s.tally.longer(lasts, partitions, partitionsPastLease)
		r.connected.shut()
		time.AfterFunc(lasts, r.connected.open)
	case 7:
		s.timeline.note(r.name, "will be stopped for %s when it has read its clock", lasts)
		r.afterClock.Store(int64(lasts))
	case 8:
		s.timeline.note(r.name, "will be stopped for %s when it is to send a write", lasts)
		r.beforeSend.Store(int64(lasts))
	case 9:
		s.tally.count(storms)
		w := weather{failing: s.random.Float64() / 2, latency: s.within(longestLatency), lag: s.within(longestLag)}
		s.timeline.note("hub", "has bad weather: %+v", w)
		s.weather.Store(&w)
	case 10:
		s.timeline.note("hub", "has good weather")
		s.weather.Store(&calm)
	case 11:
		s.meddle()
	}
}

// meddle is a person who edits Leases. What only one Lease knows is left to it: an epoch that
// nobody remembers cannot be exceeded.
func (s *schedule) meddle() {
	list := s.hub.list()
	if len(list.Items) == 0 {
		return
	}
	lease := smallest(list.Items, s.random.IntN(len(list.Items)))
	if knowsMost(list.Items, lease) {
		return
	}
	switch s.random.IntN(4) {
	case 0:
		s.timeline.note("a person", "deletes %s", lease.Name)
		s.tally.count(leasesDeleted)
		_ = s.hub.delete(lease.Name, nil) // it is there: nobody was in between
		return
	case 1:
		s.timeline.note("a person", "removes the holder of %s", lease.Name)
		s.tally.count(holdersRemoved)
		lease.Spec.HolderIdentity = nil
	case 2:
		other := s.pick()
		s.timeline.note("a person", "writes that %s is held by %s", lease.Name, other.name)
		s.tally.count(holdersChanged)
		lease.Spec.HolderIdentity = ptr.To(other.name)
	case 3:
		s.timeline.note("a person", "sets times and transitions of %s back", lease.Name)
		s.tally.count(leasesSetBack)
		lease.Spec.LeaseTransitions, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = nil, nil, ptr.To[int32](1)
	}
	_, _ = s.hub.update(lease) // likewise
}

// knowsMost reports whether a Lease knows of a higher epoch than all others.
func knowsMost(leases []coordinationv1.Lease, lease *coordinationv1.Lease) bool {
	highest := 0
	for i := range leases {
		if leases[i].Name != lease.Name {
			highest = max(highest, epochKnown(&leases[i]))
		}
	}
	return epochKnown(lease) > highest
}

func epochKnown(lease *coordinationv1.Lease) int {
	if seen, err := strconv.Atoi(lease.Annotations["syncline.dev/epoch"]); err == nil {
		return seen
	}
	return int(ptr.Deref(lease.Spec.LeaseTransitions, 0))
}

// smallest is the n-th Lease by name, to be changed.
func smallest(leases []coordinationv1.Lease, n int) *coordinationv1.Lease {
	for i := range leases {
		before := 0
		for j := range leases {
			if leases[j].Name < leases[i].Name {
				before++
			}
		}
		if before == n {
			return leases[i].DeepCopy()
		}
	}
	return nil
}

// relieve ends all trouble.
func (s *schedule) relieve() {
	s.timeline.note("all", "calm")
	s.weather.Store(&calm)
	for _, r := range slices.Concat(s.replicas, s.gone) {
		r.relieve()
	}
}

// cutInstance takes the name of a process apart.
func cutInstance(process string) (name, instance string, found bool) {
	return strings.Cut(process, "_")
}
