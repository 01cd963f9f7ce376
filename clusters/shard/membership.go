package shard

import (
	"fmt"
	"strconv"
	"time"
)

// membership is this replica's own Lease.
type membership struct {
	slot
	until time.Time // others count on this replica until then, by its own reckoning
}

// peer is another replica.
type peer struct {
	slot
	live bool
}

// watchPeers finds out who lives. The Lease of one that died is removed by the first of the
// living: a replica that starts later would take it for alive until it has waited itself.
func (m *machine) watchPeers(now time.Time) {
	first := m.joined
	for name, p := range m.peers {
		if p.lease == nil && !p.busy {
			delete(m.peers, name)
		}
		live := p.holder() != "" && !m.due(now, p.freeAt(m.cfg.LeaseDuration))
		m.stale = m.stale || live != p.live
		p.live = live
		first = first && (!live || m.identity < p.holder())
	}
	if !first {
		return
	}
	for _, p := range m.peers {
		if p.lease != nil && !p.live && m.due(now, p.freeAt(m.cfg.LeaseDuration)) && m.callable(now, &p.slot) {
			m.send(now, &p.slot, call{verb: deleteLease})
		}
	}
}

// keepRecord finds out whether the hub and this replica agree on the number of shards, and
// writes it down where nobody has. Who leaves also writes down which epochs have been: all
// others that know may be gone by the time that a person sets a Lease back.
func (m *machine) keepRecord(now time.Time) {
	r := &m.record
	other := m.otherCount()
	if n := r.number(shardsAnnotation); r.lease != nil && n != m.cfg.Shards {
		other = n
	}
	switch {
	case other != 0:
		m.refusal = fmt.Errorf("%w: this replica is set to %d, but Lease %s or a running replica says %d; "+
			"to change it, stop all replicas and delete that Lease", ErrShardCount, m.cfg.Shards, recordName, other)
	case r.lease != nil:
		m.refusal, m.agreed = nil, true
	}
	if other == 0 && (r.lease == nil && !m.stopping || m.owesRecord()) && m.callable(now, r) {
		m.write(now, r, term{kind: kindRecord, annotations: map[string]string{
			shardsAnnotation: strconv.Itoa(m.cfg.Shards),
			epochAnnotation:  strconv.Itoa(m.highest),
		}})
	}
}

// owesRecord reports whether this replica leaves and has not yet written down what it knows.
func (m *machine) owesRecord() bool {
	return m.stopping && m.agreed && m.refusal == nil && m.record.lease != nil && m.record.number(epochAnnotation) < m.highest
}

// admitted reports whether this replica may own anything.
func (m *machine) admitted() bool { return m.agreed && m.refusal == nil && !m.stopping }

// keepMembership joins, stays and leaves.
func (m *machine) keepMembership(now time.Time) {
	s := &m.membership
	own := s.holder() == m.identity
	if !m.admitted() {
		if own && m.callable(now, &s.slot) {
			m.send(now, &s.slot, call{verb: deleteLease})
		}
		return
	}
	// Where there is no Lease, nobody runs under our name: of two that start at once, one
	// creates it.
	m.rival = nil
	if !own && s.lease != nil && !m.due(now, s.freeAt(m.cfg.LeaseDuration)) {
		m.rival = fmt.Errorf("%w: %q renews Lease %s, or did until less than %s ago; give each replica an identity of its own",
			errNameTaken, s.holder(), s.name, m.cfg.LeaseDuration)
		return
	}
	if !m.callable(now, &s.slot) {
		return
	}
	epoch := s.epoch()
	if !own {
		epoch++
	}
	m.write(now, &s.slot, term{kind: kindReplica, holder: m.identity, epoch: epoch, annotations: map[string]string{
		shardsAnnotation: strconv.Itoa(m.cfg.Shards),
		weightAnnotation: strconv.Itoa(m.cfg.Weight),
		epochAnnotation:  strconv.Itoa(m.highest),
	}})
}

// isMember reports whether this replica takes part in the assignment.
func (m *machine) isMember(now time.Time) bool {
	s := &m.membership
	if s.holder() != m.identity || s.until.IsZero() || !m.admitted() && !m.stopping {
		return false
	}
	if m.stopping && m.due(now, m.leaveBy) {
		return false
	}
	return !m.due(now, s.until)
}

// reassign decides who should hold what, where that may have changed.
func (m *machine) reassign(now time.Time) {
	joined := m.isMember(now)
	if !m.stale && joined == m.joined {
		return
	}
	m.stale, m.joined = false, joined
	peers := m.livePeers()
	holders := make([]string, len(m.shards))
	for i, s := range m.shards {
		holders[i] = s.holder()
	}
	m.wanted = Assign(peers, holders)
	m.publish(now, peers)
	m.expect()
}

// expect says which shards are to be this replica's.
func (m *machine) expect() {
	m.ready.expected = make([]bool, len(m.shards))
	for i, s := range m.shards {
		m.ready.expected[i] = m.wants(s)
	}
}

func (m *machine) livePeers() []Peer {
	var peers []Peer
	if m.joined {
		peers = append(peers, Peer{Name: m.identity, Weight: m.cfg.Weight})
	}
	seen := map[string]bool{m.identity: true}
	for _, p := range m.peers {
		if p.live && !seen[p.holder()] {
			seen[p.holder()] = true
			weight := min(max(p.number(weightAnnotation), 1), MostWeight)
			peers = append(peers, Peer{Name: p.holder(), Weight: weight})
		}
	}
	return peers
}

// publish says who holds which shard.
func (m *machine) publish(now time.Time, peers []Peer) {
	live := make(map[string]bool, len(peers))
	for _, p := range peers {
		live[p.Name] = true
	}
	holdings := make([]Holding, len(m.shards))
	for i, s := range m.shards {
		next := Holding{Shard: i, Epoch: s.epoch()}
		if s.live && live[s.holder()] {
			next.Replica = replicaName(s.holder())
		}
		next.Since = now
		if len(m.holdings) > 0 && m.holdings[i].Replica == next.Replica && m.holdings[i].Epoch == next.Epoch {
			next.Since = m.holdings[i].Since
		}
		holdings[i] = next
	}
	m.holdings = holdings
	m.ready.holdings = holdings
}

// otherCount is a number of shards that a live peer works with and this replica does not; 0
// if there is none.
func (m *machine) otherCount() int {
	for _, p := range m.peers {
		if n := p.number(shardsAnnotation); p.live && n != 0 && n != m.cfg.Shards {
			return n
		}
	}
	return 0
}
