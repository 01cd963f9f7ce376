package sim

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// process is what the outside does to a replica: its clock, its standing still, its
// connection to the hub. It is the replica's clock, and its access to Leases.
type process struct {
	clock.RealClock // for timers: what they wake stands still in Now

	name      string
	skew      time.Duration // of its clock
	hub       *hub
	weather   *atomic.Pointer[weather]
	tally     *tally
	awake     gate // shut while the process is stopped
	connected gate // shut while the hub is out of reach
	dead      atomic.Bool

	// For how long the process is to be stopped when it has next read its clock, or is next
	// about to send a write: where it would hurt.
	afterClock, beforeSend atomic.Int64

	mu     sync.Mutex
	locked lockedProcess
}

type lockedProcess struct {
	random *rand.Rand
}

// weather is how likely calls fail, of 1, and how slow calls and watches are.
type weather struct {
	failing float64
	latency time.Duration
	lag     time.Duration
}

func newProcess(name string, w *world, skew time.Duration) *process {
	return &process{
		name: name, skew: skew, hub: w.hub, weather: &w.weather, tally: &w.tally,
		locked: lockedProcess{random: w.randomFor(name)},
	}
}

// Now is this machine's clock. A process that is stopped gets its answer when it is resumed,
// unless it was stopped just when it had it.
func (p *process) Now() time.Time {
	p.awake.pass()
	now := time.Now()
	p.stopAt(&p.afterClock)
	return now.Add(p.skew)
}

// stopAt stops the process if that is due at this point.
func (p *process) stopAt(point *atomic.Int64) {
	if point.Load() == 0 {
		return
	}
	if lasts := time.Duration(point.Swap(0)); lasts > 0 {
		p.tally.count(map[*atomic.Int64]incident{&p.afterClock: pausesAfterClock, &p.beforeSend: pausesBeforeSend}[point])
		p.awake.shut()
		time.AfterFunc(lasts, p.awake.open)
	}
	p.awake.pass()
}

// Since implements clock.PassiveClock.
func (p *process) Since(t time.Time) time.Duration { return p.Now().Sub(t) }

// kill ends a process: nothing that it still does has an effect.
func (p *process) kill() {
	p.dead.Store(true)
	p.relieve()
}

// relieve ends what holds a process up.
func (p *process) relieve() {
	p.afterClock.Store(0)
	p.beforeSend.Store(0)
	p.awake.open()
	p.connected.open()
}

// upTo is a random duration, most often a small part of the longest.
func (p *process) upTo(longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.locked.random.Float64()
	return time.Duration(r * r * r * float64(longest))
}

func (p *process) chance(probability float64) bool {
	if probability == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locked.random.Float64() < probability
}
