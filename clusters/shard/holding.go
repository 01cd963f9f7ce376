package shard

import (
	"strconv"
	"time"
)

// shard is one shard, as this replica knows it.
type shard struct {
	slot
	index int
	phase phase

	live    bool      // its holder is known, and was heard of within LeaseDuration
	claimed int       // the epoch that this replica last tried to begin
	held    int       // the epoch of its last tenure
	until   time.Time // the end of ownership, while held

	unwantedAt time.Time // since when it is another's by assignment, while held; zero if ours

	// writing is true from the beginning of a tenure until no write under it is under way, as
	// far as is known here. What may still reach the member has done so at quietAt.
	writing  bool
	quietAt  time.Time
	closedAt time.Time // when the hand-over began
}

// phase is where a replica stands with a shard.
//
//	idle      -> held       its write of the Lease succeeded
//	held      -> draining   it is another's by assignment, or we stop
//	          -> idle       the renew deadline has passed, or another holds the Lease
//	draining  -> releasing  no write can be under way
//	releasing -> idle       the Lease was given back
type phase int

const (
	idle phase = iota
	held
	draining
	releasing
)

// ours reports whether the Lease is this replica's by a write of its own. One that bears our
// name otherwise was edited by a person.
func (m *machine) ours(s *shard) bool {
	return s.holder() == m.identity && s.lease.Annotations[claimAnnotation] == m.identity &&
		(s.epoch() == s.held || s.epoch() == s.claimed)
}

// claim writes that the shard is ours in an epoch.
func (m *machine) claim(now time.Time, s *shard, epoch int) {
	m.write(now, &s.slot, term{kind: kindShard, holder: m.identity, epoch: epoch, annotations: map[string]string{
		claimAnnotation: m.identity,
	}})
}

func (m *machine) wants(s *shard) bool { return m.joined && m.wanted[s.index] == m.identity }

// watchShards finds out whose holders are heard of.
func (m *machine) watchShards(now time.Time) {
	for _, s := range m.shards {
		live := s.holder() != "" && !m.due(now, s.freeAt(m.cfg.LeaseDuration))
		m.stale = m.stale || live != s.live
		s.live = live
	}
}

// keepShard does what is due for a shard.
func (m *machine) keepShard(now time.Time, s *shard) {
	if s.phase == held || s.phase == draining {
		m.watchTenure(now, s)
	}
	switch s.phase {
	case idle:
		m.keepIdle(now, s)
	case held:
		m.keepHeld(now, s)
	case draining:
		m.keepDraining(now, s)
	case releasing:
		m.keepReleasing(now, s)
	}
}

// watchTenure ends a tenure at once when its time is over, or the Lease is no longer ours.
func (m *machine) watchTenure(now time.Time, s *shard) {
	switch {
	case !m.ours(s):
		m.lose(now, s, ReasonTaken)
	case s.phase == held && m.due(now, s.until):
		m.lose(now, s, ReasonExpired)
	}
}

// lose stops writes at once. Those that were under way may reach the member for a while.
func (m *machine) lose(now time.Time, s *shard, reason Reason) {
	m.order(order{verb: cutTenure, shard: s.index, epoch: s.held, reason: reason})
	s.phase = idle
	s.quietAt = now.Add(m.cfg.grace())
}

// keepIdle takes a shard that is to be ours and that nobody can hold, and gives back one
// that is ours without our knowing: an attempt was executed although it failed.
func (m *machine) keepIdle(now time.Time, s *shard) {
	if s.writing || !m.due(now, s.quietAt) {
		return
	}
	if !m.wants(s) {
		if m.ours(s) && !s.busy {
			s.phase, s.closedAt = releasing, now
			m.keepReleasing(now, s)
		}
		return
	}
	if s.lease != nil && !m.ours(s) && !m.due(now, s.freeAt(m.cfg.LeaseDuration)) {
		return
	}
	if !m.callable(now, &s.slot) {
		return
	}
	if s.lease == nil {
		// A Lease that a person deleted may have had a holder until now, whatever we saw before.
		// So it is made without one, and respected as if somebody held it.
		m.write(now, &s.slot, term{kind: kindShard})
	} else {
		s.claimed = m.highest + 1
		m.claim(now, s, s.claimed)
	}
}

// wroteShard takes the success of a write of a shard's Lease. One that renewed a tenure which
// was lost in the meantime begins nothing: what it was followed by is not over yet.
func (m *machine) wroteShard(now time.Time, s *shard, c call, until time.Time) {
	switch {
	case c.term.holder == "":
		if s.phase == releasing {
			m.order(order{verb: handedOver, shard: s.index, epoch: s.held, lasted: now.Sub(s.closedAt)})
		}
	case s.phase == held && c.term.epoch == s.held:
		s.until, s.nextAt = until, m.nextRenewal(c)
		m.order(order{verb: extendTenure, shard: s.index, epoch: s.held, until: until})
	case s.phase == idle && c.term.epoch > s.held && m.ours(s) && now.Before(until):
		m.open(now, s, c, until)
	}
}

// open begins a tenure.
func (m *machine) open(now time.Time, s *shard, c call, until time.Time) {
	s.phase, s.held, s.until = held, c.term.epoch, until
	s.writing, s.quietAt, s.unwantedAt = true, time.Time{}, time.Time{}
	s.nextAt = m.nextRenewal(c)
	reason := ReasonTakeover
	if c.base.released() || c.base.epoch() == 0 {
		reason = ReasonAssigned
	}
	m.order(order{
		verb: openTenure, shard: s.index, epoch: s.held, until: until,
		lasted: now.Sub(c.base.since), reason: reason,
	})
}

// keepHeld renews, or begins to hand over: when the shard has been another's for a while, in
// which that one prepares for its members. Besides, replicas notice within milliseconds of
// each other who came and went, and until all have noticed, they may not agree.
func (m *machine) keepHeld(now time.Time, s *shard) {
	if m.wants(s) {
		s.unwantedAt = time.Time{}
	}
	if m.wants(s) || !m.unwanted(now, s) {
		if m.callable(now, &s.slot) {
			m.claim(now, s, s.held)
		}
		return
	}
	m.close(now, s)
}

// close begins to hand over.
func (m *machine) close(now time.Time, s *shard) {
	m.order(order{verb: closeTenure, shard: s.index, epoch: s.held, reason: ReasonHandedOver})
	s.phase, s.closedAt = draining, now
}

// unwanted reports whether a shard that is another's has been so for long enough. When the last
// replica stops there is nobody who would prepare for it.
func (m *machine) unwanted(now time.Time, s *shard) bool {
	if m.stopping && m.wanted[s.index] == "" {
		return true
	}
	if s.unwantedAt.IsZero() {
		s.unwantedAt = now
	}
	return m.due(now, s.unwantedAt.Add(m.notice(s)))
}

// notice is how long a shard is kept for the replica that it is to be handed over to: a
// replica that stops has less time than one that goes on. Shards without members come later,
// and not all at once, so that members need not wait for them.
func (m *machine) notice(s *shard) time.Duration {
	notice := m.cfg.RetryPeriod / 4
	if m.stopping {
		notice = m.cfg.RetryPeriod / 10
	}
	if m.members[s.index] == 0 {
		notice += m.cfg.RetryPeriod/4 + m.cfg.RetryPeriod*time.Duration(s.index)/time.Duration(len(m.shards))
	}
	return notice
}

// surpass takes the epoch of an owner that no Lease tells of any more. Where it is not below
// that of a tenure, as when people have deleted all Leases, another tenure begins.
func (m *machine) surpass(now time.Time, index, epoch int) {
	m.highest = max(m.highest, epoch)
	if s := m.shards[index]; s.phase == held && s.held <= epoch {
		m.close(now, s)
	}
}

// keepDraining waits for writes under way, which end when the tenure would have. To cut them
// off earlier would gain nothing: nobody would know for how long the member works on them.
// It renews no more: what is left of the Lease covers the drain.
func (m *machine) keepDraining(now time.Time, s *shard) {
	if s.writing || !m.due(now, s.quietAt) {
		return
	}
	s.phase = releasing
	s.nextAt = now
	m.keepReleasing(now, s)
}

// drained takes the end of the last write under a tenure, and until when members may work on
// those of which nobody knows whether they execute them, zero if there are none. Such a write
// is given the time that it has when ownership is lost.
func (m *machine) drained(index, epoch int, unanswered time.Time) {
	s := m.shards[index]
	if epoch != s.held {
		return
	}
	s.writing = false
	if at := unanswered.Add(m.cfg.grace()); !unanswered.IsZero() && at.After(s.quietAt) {
		s.quietAt = at
	}
}

// keepReleasing gives the Lease back, unless it has become another's, or is ours again.
func (m *machine) keepReleasing(now time.Time, s *shard) {
	if !m.ours(s) || m.wants(s) {
		s.phase = idle
		m.keepIdle(now, s)
		return
	}
	if m.callable(now, &s.slot) {
		m.write(now, &s.slot, term{kind: kindShard, epoch: s.epoch(), annotations: map[string]string{
			releasedAnnotation: strconv.Itoa(s.epoch()),
		}})
	}
}
