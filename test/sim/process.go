package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
)

// process is what the outside does to a replica: its clock, its standing still, its
// connection to the hub. It is the replica's clock, and its access to Leases.
type process struct {
	clock.RealClock // for timers: what they wake stands still in Now

	name   string
	hub    *hub
	skew   time.Duration // of its clock
	faults *faults

	mu     sync.Mutex
	locked lockedProcess
}

type lockedProcess struct {
	random  *rand.Rand
	running chan struct{} // closed unless the process is stopped
	reached chan struct{} // closed unless the hub is out of reach
	dead    bool
}

// faults are those of all calls, while they last.
type faults struct {
	mu     sync.Mutex
	locked weather
}

// weather is how likely calls fail, of 1, and how slow calls and watches are.
type weather struct {
	failing float64
	latency time.Duration
	lag     time.Duration
}

func (f *faults) get() weather {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.locked
}

func (f *faults) set(w weather) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked = w
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func newProcess(name string, hub *hub, skew time.Duration, faults *faults, random *rand.Rand) *process {
	return &process{
		name: name, hub: hub, skew: skew, faults: faults,
		locked: lockedProcess{random: random, running: closed(), reached: closed()},
	}
}

// Now is this machine's clock. A process that is stopped gets its answer when it is resumed.
func (p *process) Now() time.Time {
	p.stand()
	return time.Now().Add(p.skew)
}

// Since implements clock.PassiveClock.
func (p *process) Since(t time.Time) time.Duration { return p.Now().Sub(t) }

// stand returns when the process runs.
func (p *process) stand() {
	running, _, _ := p.state()
	<-running
}

func (p *process) state() (running, reached chan struct{}, dead bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locked.running, p.locked.reached, p.locked.dead
}

func (p *process) isDead() bool {
	_, _, dead := p.state()
	return dead
}

func (p *process) set(change func(*lockedProcess)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.locked)
}

func (p *process) pause()     { p.set(func(l *lockedProcess) { shut(&l.running) }) }
func (p *process) resume()    { p.set(func(l *lockedProcess) { open(l.running) }) }
func (p *process) partition() { p.set(func(l *lockedProcess) { shut(&l.reached) }) }
func (p *process) heal()      { p.set(func(l *lockedProcess) { open(l.reached) }) }

// kill ends a process: nothing that it still does has an effect.
func (p *process) kill() {
	p.set(func(l *lockedProcess) {
		l.dead = true
		open(l.running)
		open(l.reached)
	})
}

// A gate is a channel that is closed while the gate is open.
func isOpen(gate chan struct{}) bool {
	select {
	case <-gate:
		return true
	default:
		return false
	}
}

func open(gate chan struct{}) {
	if !isOpen(gate) {
		close(gate)
	}
}

func shut(gate *chan struct{}) {
	if isOpen(*gate) {
		*gate = make(chan struct{})
	}
}

// upTo is a random duration, most often a small part of the longest.
func (p *process) upTo(longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.locked.random.Float64()
	return time.Duration(r * r * r * float64(longest))
}

func (p *process) chance(probability float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locked.random.Float64() < probability
}

var (
	errDead        = errors.New("the process is dead")
	errUnavailable = errors.New("the server is unavailable")
)

// travel is one way between process and hub.
func (p *process) travel(ctx context.Context) error {
	timer := time.NewTimer(time.Microsecond + p.upTo(p.faults.get().latency))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, reached, _ := p.state()
	select {
	case <-reached:
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.isDead() {
		return errDead
	}
	return nil
}

// exchange makes a call. One that fails may have been executed.
func exchange[T any](ctx context.Context, p *process, execute func() (T, error)) (result T, err error) {
	p.stand()
	defer p.stand()
	if err := p.travel(ctx); err != nil {
		return result, err
	}
	failing := p.faults.get().failing
	if p.chance(failing / 2) {
		return result, errUnavailable
	}
	answer, failure := execute()
	if p.chance(failing / 2) {
		return result, errUnavailable
	}
	if err := p.travel(ctx); err != nil {
		return result, err
	}
	return answer, failure
}

// Get implements shard.LeaseReader.
func (p *process) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return exchange(ctx, p, func() (*coordinationv1.Lease, error) { return p.hub.get(name) })
}

// List implements shard.LeaseReader.
func (p *process) List(ctx context.Context, _ metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return exchange(ctx, p, func() (*coordinationv1.LeaseList, error) { return p.hub.list(), nil })
}

// Create implements shard.LeaseWriter.
func (p *process) Create(ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return exchange(ctx, p, func() (*coordinationv1.Lease, error) { return p.hub.create(lease) })
}

// Update implements shard.LeaseWriter.
func (p *process) Update(ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return exchange(ctx, p, func() (*coordinationv1.Lease, error) { return p.hub.update(lease) })
}

// Delete implements shard.LeaseWriter.
func (p *process) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := exchange(ctx, p, func() (any, error) { return nil, p.hub.delete(name, opts.Preconditions) })
	return err
}

// Watch implements shard.LeaseReader.
func (p *process) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	version, err := strconv.Atoi(opts.ResourceVersion)
	if err != nil {
		return nil, fmt.Errorf("resourceVersion: %w", err)
	}
	return exchange(ctx, p, func() (watch.Interface, error) {
		ctx, cancel := context.WithCancel(ctx)
		f := &feed{results: make(chan watch.Event), cancel: cancel}
		go p.deliver(ctx, f, version)
		return f, nil
	})
}

// deliver is the life of a watch. It lags, and now and then it breaks, as everything does when
// calls fail.

func (p *process) deliver(ctx context.Context, f *feed, version int) {
	defer close(f.results)
	for ctx.Err() == nil {
		changes, more := p.hub.since(version)
		if len(changes) == 0 {
			select {
			case <-ctx.Done():
			case <-more:
			}
			continue
		}
		next := changes[0]
		version = next.version
		if p.chance(p.faults.get().failing / 50) {
			return
		}
		if !p.arrive(ctx, next.at) {
			return
		}
		select {
		case f.results <- next.Event:
		case <-ctx.Done():
		}
	}
}

// arrive returns when an event that left at some time is there; false if it never is.
func (p *process) arrive(ctx context.Context, left time.Time) bool {
	w := p.faults.get()
	timer := time.NewTimer(time.Until(left.Add(p.upTo(w.latency) + p.upTo(w.lag))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	_, reached, _ := p.state()
	select {
	case <-reached:
	case <-ctx.Done():
		return false
	}
	p.stand()
	return !p.isDead()
}
