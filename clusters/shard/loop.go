package shard

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// loop drives a machine: the one goroutine that touches it.
type loop struct {
	*Replica
	machine *machine
	log     logr.Logger
	begin   func(call) // begins a call, and returns at once
}

// event is what a goroutine has to tell the machine.
type event func(m *machine, now time.Time)

// inbox takes events from any goroutine, and never blocks one.
type inbox struct {
	filled chan struct{} // has an element when there are events

	mu     sync.Mutex
	locked []event
}

func newInbox() *inbox { return &inbox{filled: make(chan struct{}, 1)} }

func (i *inbox) put(e event) {
	i.mu.Lock()
	i.locked = append(i.locked, e)
	i.mu.Unlock()
	select {
	case i.filled <- struct{}{}:
	default:
	}
}

func (i *inbox) take() []event {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.locked
	i.locked = nil
	return events
}

// run is the life of a replica.
func (l *loop) run(ctx context.Context) error {
	l.log.Info("Joining", "shards", l.cfg.Shards, "weight", l.cfg.Weight)
	timer := l.cfg.Clock.NewTimer(l.cfg.LeaseDuration)
	defer timer.Stop()
	cancelled, leaving := ctx.Done(), l.leaving
	var tooLate <-chan time.Time
	for {
		events := l.inbox.take()
		now := l.cfg.Clock.Now() // afterwards, however long this process was stopped in between
		if ended, err := l.step(now, events); ended {
			return err
		}
		var wake <-chan time.Time
		if at := l.machine.wake; !at.IsZero() {
			timer.Reset(at.Sub(now))
			wake = timer.C()
		}
		select {
		case <-l.inbox.filled:
		case <-wake:
		case <-cancelled:
			cancelled = nil
			l.leave()
		case <-leaving:
			leaving = nil
			l.machine.stop(l.cfg.Clock.Now())
			tooLate = l.cfg.Clock.After(l.cfg.LeaseDuration)
		case <-tooLate:
			l.log.Info("Left without having handed everything over: the rest will be taken over")
			return nil
		}
	}
}

// step takes what has happened and does what is due. It reports whether that was all.
func (l *loop) step(now time.Time, events []event) (ended bool, err error) {
	for _, tell := range events {
		tell(l.machine, now)
	}
	l.machine.advance(now)
	l.setStanding(l.machine)
	if err := l.machine.failure(); err != nil {
		return true, err
	}
	ready := l.machine.take()
	for _, o := range ready.orders {
		l.carryOut(now, o)
	}
	if ready.holdings != nil {
		l.setHoldings(ready.holdings)
	}
	if ready.expected != nil {
		l.setExpected(ready.expected)
	}
	for _, c := range ready.calls {
		l.begin(c)
	}
	if l.machine.stopped() {
		l.log.Info("Left")
		return true, nil
	}
	return false, nil
}

// carryOut changes what may be written, and tells who wants to know.
func (l *loop) carryOut(now time.Time, o order) {
	t, _ := l.tenure(o.shard)
	switch o.verb {
	case openTenure:
		t = newTenure(Ownership{Shard: o.shard, Epoch: o.epoch, Since: now, Reason: o.reason}, o.until, l.cfg.Clock, func(unanswered time.Time) {
			l.inbox.put(func(m *machine, _ time.Time) { m.drained(o.shard, o.epoch, unanswered) })
		})
		l.setTenure(t)
		begun(o)
		l.tell(Change{Ownership: t.Ownership, Owned: true, Reason: o.reason})
	case extendTenure:
		t.extend(o.until)
	case closeTenure, cutTenure:
		if t != nil && t.end(o.verb == cutTenure) {
			ended(o)
			l.tell(Change{Ownership: t.Ownership, Reason: o.reason})
		}
	case handedOver:
		handoverSeconds.Observe(o.lasted.Seconds())
	}
}

func (l *loop) tell(c Change) {
	level := 0
	if c.Reason == ReasonAssigned || c.Reason == ReasonHandedOver {
		level = 1 // as it should be
	}
	l.log.V(level).Info("Ownership changed", "shard", c.Shard, "epoch", c.Epoch, "owned", c.Owned, "reason", c.Reason)
	for _, notify := range l.changed {
		notify(c)
	}
}

func (l *loop) setTenure(t *tenure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked.tenures[t.Shard] = t
	close(l.locked.changed[t.Shard])
	l.locked.changed[t.Shard] = make(chan struct{})
}

func (l *loop) setHoldings(holdings []Holding) {
	l.mu.Lock()
	before := l.locked.holdings
	l.locked.holdings = holdings
	l.mu.Unlock()
	countOwnerless(holdings)
	for i, now := range holdings {
		if before != nil && now == before[i] {
			continue
		}
		for _, notify := range l.moved {
			notify(now)
		}
	}
}

func (l *loop) setExpected(expected []bool) {
	l.mu.Lock()
	before := l.locked.expected
	l.locked.expected = expected
	l.mu.Unlock()
	for i, now := range expected {
		if now == before[i] {
			continue
		}
		for _, notify := range l.awaited {
			notify(i)
		}
	}
}

// setStanding takes over how this replica stands with the others.
func (l *loop) setStanding(m *machine) {
	l.mu.Lock()
	refused, waited := l.locked.refusal != nil, l.locked.rival != nil
	l.locked.joined, l.locked.refusal, l.locked.rival = m.joined, m.refusal, m.rival
	l.mu.Unlock()
	if m.refusal != nil && !refused {
		l.log.Error(m.refusal, "Owning nothing until that is mended")
	}
	if m.rival != nil && !waited {
		l.log.Info(m.rival.Error())
	}
}

// endAll ends what was not handed over in time.
func (l *loop) endAll() {
	for shard := range l.cfg.Shards {
		l.carryOut(l.cfg.Clock.Now(), order{verb: cutTenure, shard: shard, reason: ReasonExpired})
	}
}

// call makes one call for a Lease, and tells the machine of its end. It is not retried here.
func (r *Replica) call(ctx context.Context, log logr.Logger, c call) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.callTimeout())
	defer cancel()
	began := r.cfg.Clock.Now()
	lease, err := r.send(ctx, c)
	if c.verb == updateLease && err == nil {
		renewSeconds.Observe(r.cfg.Clock.Since(began).Seconds())
	}
	r.setFailure(log, c.lease, err)
	r.inbox.put(func(m *machine, now time.Time) { m.done(now, c, lease, err) })
}

func (r *Replica) send(ctx context.Context, c call) (*coordinationv1.Lease, error) {
	switch c.verb {
	case createLease:
		return r.cfg.Writer.Create(ctx, c.term.over(nil, r.cfg.Clock.Now()), metav1.CreateOptions{})
	case updateLease:
		return r.cfg.Writer.Update(ctx, c.term.over(c.base.lease, r.cfg.Clock.Now()), metav1.UpdateOptions{})
	case deleteLease:
		return nil, r.cfg.Writer.Delete(ctx, c.lease, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
			UID: &c.base.lease.UID, ResourceVersion: ptr.To(c.base.lease.ResourceVersion),
		}})
	default:
		return r.cfg.Reader.Get(ctx, c.lease, metav1.GetOptions{})
	}
}

// setFailure says once when calls begin to fail, and once when they succeed again.
func (r *Replica) setFailure(log logr.Logger, lease string, err error) {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		err = nil // an answer
	}
	if errors.Is(err, context.Canceled) {
		return // we stop
	}
	r.mu.Lock()
	before := r.locked.failure
	r.locked.failure = err
	r.mu.Unlock()
	switch {
	case err != nil && before == nil:
		log.Error(err, "A Lease cannot be read or written", "lease", lease)
	case err == nil && before != nil:
		log.Info("Leases can be read and written")
	}
}
