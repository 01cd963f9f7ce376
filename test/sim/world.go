package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/clusters/shard"
)

// Timings are the defaults of clusters/shard.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
)

// world is a hub, its members and its replicas.
type world struct {
	seed     uint64
	shards   int
	hanging  float64 // share of writes that hang in one way or another
	losing   float64 // share of those given up of which the member does not hear
	hub      *hub
	weather  atomic.Pointer[weather]
	timeline *timeline
	tally    tally
	members  []*ledger
	byName   map[string]*ledger
	replicas []*replica // that have not ended, as far as the schedule knows
	gone     []*replica

	mu     sync.Mutex
	locked lockedWorld
}

type lockedWorld struct {
	owner map[int]string    // by shard; none if it has ended
	ended map[int]time.Time // when a shard's last tenure ended, by shard
	gaps  []time.Duration   // from there to the next tenure
	moves int
	last  time.Time // change
}

func newWorld(seed uint64, shards, members int) *world {
	w := &world{
		seed: seed, shards: shards,
		hub:      newHub(),
		timeline: &timeline{begin: time.Now()},
		byName:   map[string]*ledger{},
		locked:   lockedWorld{owner: map[int]string{}, ended: map[int]time.Time{}},
	}
	w.weather.Store(&calm)
	for i := range members {
		l := newLedger(types.NamespacedName{Namespace: "fleet", Name: fmt.Sprint("m", i)}, w.timeline, &w.tally)
		w.members = append(w.members, l)
		w.byName[l.key.String()] = l
	}
	return w
}

func (w *world) ledger(name string) *ledger { return w.byName[name] }

// randomFor is the randomness of one part of the world: what others draw does not change it.
func (w *world) randomFor(part string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(part)) // never fails
	return rand.New(rand.NewPCG(w.seed, hash.Sum64()))
}

// changed is told of every change of ownership, by its replica. What a dead one says is not
// heard.
func (w *world) changed(r *replica, c shard.Change) {
	if r.dead.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.Owned {
		w.timeline.note(r.name, "ceases to own shard %d in epoch %d: %s", c.Shard, c.Epoch, c.Reason)
		w.tally.count(ends[c.Reason])
		w.locked.ends(r.name, c.Shard)
		return
	}
	if c.Reason == shard.ReasonTakeover {
		w.tally.count(tenuresTaken)
	}
	w.timeline.note(r.name, "owns shard %d in epoch %d: %s", c.Shard, c.Epoch, c.Reason)
	w.locked.begins(r.name, c.Shard)
}

// ends are the reasons for which tenures end.
var ends = map[shard.Reason]incident{
	shard.ReasonHandedOver: tenuresHandedOver,
	shard.ReasonExpired:    tenuresExpired,
	shard.ReasonTaken:      tenuresLost,
}

// bury ends what a dead replica owned.
func (w *world) bury(r *replica) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for shard, owner := range w.locked.owner {
		if owner == r.name {
			w.locked.ends(r.name, shard)
		}
	}
}

func (l *lockedWorld) begins(who string, shard int) {
	l.moves++
	l.last = time.Now()
	if at, found := l.ended[shard]; found {
		l.gaps = append(l.gaps, time.Since(at))
	}
	l.owner[shard] = who
}

func (l *lockedWorld) ends(who string, shard int) {
	l.moves++
	l.last = time.Now()
	l.ended[shard] = time.Now()
	if l.owner[shard] == who {
		delete(l.owner, shard)
	}
}

// takeGaps returns the times for which shards had no owner, and the number of changes, since
// it was last called.
func (w *world) takeGaps() (gaps []time.Duration, moves int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gaps, moves = w.locked.gaps, w.locked.moves
	w.locked.gaps, w.locked.moves = nil, 0
	return gaps, moves
}

// owned is the number of shards that have an owner.
func (w *world) owned() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.locked.owner)
}

func (w *world) lastChange() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locked.last
}

// lose takes a replica out of the schedule's sight.
func (w *world) lose(r *replica) {
	w.replicas = slices.DeleteFunc(w.replicas, func(other *replica) bool { return other == r })
	w.gone = append(w.gone, r)
}

// end stops everything and waits for it.
func (w *world) end() {
	for _, r := range slices.Concat(w.replicas, w.gone) {
		r.kill()
		r.cancel()
	}
	for _, r := range slices.Concat(w.replicas, w.gone) {
		r.running.Wait()
	}
	time.Sleep(patience + transit + straggling) // what members still work on
}
