package shard

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/syncline-dev/syncline/clusters/member"
)

var (
	errEarlier = fmt.Errorf("%w: its shard was held, lost and taken again since the write was decided on", member.ErrNotOwner)
	errNotHeld = fmt.Errorf("%w: another replica holds its shard, or none", member.ErrNotOwner)
	errEnded   = fmt.Errorf("%w: its shard ceased to be held while the write was under way", member.ErrNotOwner)
)

// tenure is one stay of a shard with this replica: the token that tells it from earlier and
// later ones. Any goroutine may write under it; only the replica's loop changes it.
type tenure struct {
	Ownership
	clock clock.PassiveClock
	// ended is closed when no write may begin any more.
	ended chan struct{}

	mu     sync.Mutex
	locked lockedTenure
}

type lockedTenure struct {
	until  time.Time
	closed bool
	writes map[*write]struct{}
	// unanswered is until when members may work on writes whose fate is unknown: that they were
	// cut off may never have come to a member's ears.
	unanswered time.Time
	// drained is called once, when closed and no write is under way.
	drained func(unanswered time.Time)
}

// write is one write under way.
type write struct {
	cancel context.CancelCauseFunc
	until  time.Time // the member was asked not to work on it any longer
}

func newTenure(o Ownership, until time.Time, clock clock.PassiveClock, drained func(unanswered time.Time)) *tenure {
	return &tenure{
		Ownership: o,
		clock:     clock,
		ended:     make(chan struct{}),
		locked:    lockedTenure{until: until, writes: map[*write]struct{}{}, drained: drained},
	}
}

// begin is Admission.Begin.
func (t *tenure) begin(ctx context.Context) (context.Context, func(answered bool), error) {
	if epoch, bound := member.EpochOf(ctx); bound && epoch != t.Epoch {
		return nil, nil, errEarlier
	}
	before, now := time.Now(), t.clock.Now() // in this order: a stop in between shortens the write's time
	ctx, cancel := context.WithCancelCause(member.WithEpoch(ctx, t.Epoch))
	w := &write{cancel: cancel}
	until, err := t.enter(now, w)
	if err != nil {
		cancel(err)
		return nil, nil, err
	}
	ctx, expire := context.WithDeadlineCause(ctx, before.Add(until.Sub(now)), errEnded)
	return ctx, func(answered bool) {
		expire()
		cancel(nil)
		t.leave(w, answered)
	}, nil
}

func (t *tenure) enter(now time.Time, w *write) (until time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.locked.admits(now) {
		return time.Time{}, errNotHeld
	}
	w.until = t.locked.until
	t.locked.writes[w] = struct{}{}
	return t.locked.until, nil
}

func (t *tenure) leave(w *write, answered bool) {
	t.mu.Lock()
	delete(t.locked.writes, w)
	if !answered && w.until.After(t.locked.unanswered) {
		t.locked.unanswered = w.until
	}
	drained := t.locked.takeDrained()
	t.mu.Unlock()
	drained()
}

// valid reports whether writes may begin.
func (t *tenure) valid() bool {
	now := t.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked.admits(now)
}

// over reports whether no write will begin any more.
func (t *tenure) over() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

func (t *tenure) extend(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.locked.until = until
}

// end lets no write begin any more, and cuts off those under way or does not. It reports
// whether it was the first to end the tenure.
func (t *tenure) end(cut bool) (first bool) {
	t.mu.Lock()
	if first = !t.locked.closed; first {
		t.locked.closed = true
		close(t.ended)
	}
	if cut {
		for w := range t.locked.writes {
			w.cancel(errEnded)
		}
	}
	drained := t.locked.takeDrained()
	t.mu.Unlock()
	drained()
	return first
}

// admits reports whether a write may begin.
func (l *lockedTenure) admits(now time.Time) bool { return !l.closed && now.Before(l.until) }

// takeDrained returns what is to be called without the lock.
func (l *lockedTenure) takeDrained() func() {
	if !l.closed || len(l.writes) > 0 || l.drained == nil {
		return func() {}
	}
	drained, unanswered := l.drained, l.unanswered
	l.drained = nil
	return func() { drained(unanswered) }
}
