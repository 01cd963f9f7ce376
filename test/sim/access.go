package sim

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	errDead        = errors.New("the process is dead")
	errUnavailable = errors.New("the server is unavailable")
)

// brief is a time for which who waits does not look at a context: that is as long as a call
// that was cancelled may take to notice.
const brief = 50 * time.Millisecond

// wait waits for some time, or until ctx ends.
func wait(ctx context.Context, lasts time.Duration) error {
	if lasts <= brief {
		time.Sleep(lasts)
		return ctx.Err()
	}
	timer := time.NewTimer(lasts)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// travel is one way between process and hub.
func (p *process) travel(ctx context.Context) error {
	err := wait(ctx, time.Microsecond+p.upTo(p.weather.Load().latency))
	if err == nil {
		err = p.connected.passWithin(ctx)
	}
	switch {
	case err != nil:
		p.tally.count(callsTimedOut)
		return err
	case p.dead.Load():
		return errDead
	}
	return nil
}

// exchange makes a call. One that fails may have been executed.
func exchange[T any](ctx context.Context, p *process, execute func() (T, error)) (result T, err error) {
	p.awake.pass()
	defer p.awake.pass()
	if err := p.travel(ctx); err != nil {
		return result, err
	}
	failing := p.weather.Load().failing
	if p.chance(failing / 2) {
		p.tally.count(callsFailed)
		return result, errUnavailable
	}
	answer, failure := execute()
	if apierrors.IsConflict(failure) {
		p.tally.count(conflicts)
	}
	if p.chance(failing / 2) {
		p.tally.count(callsFailedExecuted)
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

// expired is how a watch ends whose version the server has forgotten.
var expired = watch.Event{Type: watch.Error, Object: &apierrors.NewResourceExpired("too old").ErrStatus}

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
		for _, next := range changes {
			version = next.version
			event := next.Event
			if p.chance(p.weather.Load().failing / 50) {
				if event = expired; p.chance(0.5) {
					p.tally.count(watchesBroken)
					return
				}
				p.tally.count(watchesExpired)
			}
			if p.arrive(ctx, next.at) != nil {
				return
			}
			select {
			case f.results <- event:
			case <-ctx.Done():
				return
			}
		}
	}
}

// arrive returns when an event that left at some time is there, or why it never is.
func (p *process) arrive(ctx context.Context, left time.Time) error {
	w := p.weather.Load()
	if err := wait(ctx, time.Until(left.Add(p.upTo(w.latency)+p.upTo(w.lag)))); err != nil {
		return err
	}
	if err := p.connected.passWithin(ctx); err != nil {
		return err
	}
	p.awake.pass()
	if p.dead.Load() {
		return errDead
	}
	return nil
}
