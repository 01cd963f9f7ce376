package shard

import (
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// listing takes note that a list is about to be asked for: it cannot be older than what is
// known by then.
func (m *machine) listing() { m.known = m.version }

// listed takes all Leases that there are.
func (m *machine) listed(now time.Time, list *coordinationv1.LeaseList) {
	if older(list.ResourceVersion, m.known) { // the hub was restored from a backup
		m.version = ""
		for _, s := range m.slots() {
			s.version = ""
		}
	}
	m.synced = true
	missing := m.slots()
	for i := range list.Items {
		delete(missing, list.Items[i].Name)
		m.saw(now, &list.Items[i])
	}
	for name := range missing {
		m.missed(now, name, list.ResourceVersion)
	}
	if newer(list.ResourceVersion, m.version) {
		m.version = list.ResourceVersion
	}
}

// saw takes a version of a Lease: from a list, a watch, or an answer. It is not changed
// afterwards. Versions that are older than what is known tell nothing.
func (m *machine) saw(now time.Time, lease *coordinationv1.Lease) {
	m.update(now, lease.Name, lease.ResourceVersion, lease)
}

// missed takes the deletion of a Lease, at the version of the deletion.
func (m *machine) missed(now time.Time, name, version string) {
	m.update(now, name, version, nil)
}

func (m *machine) update(now time.Time, name, version string, lease *coordinationv1.Lease) {
	if newer(version, m.version) {
		m.version = version
	}
	s := m.slot(name)
	if s == nil || !newer(version, s.version) {
		return
	}
	m.set(s, sighting{version: version, lease: lease, since: now})
}

// set replaces what is known of a Lease.
func (m *machine) set(s *slot, next sighting) {
	if next.holder() != s.holder() || next.epoch() != s.epoch() || next.number(weightAnnotation) != s.number(weightAnnotation) {
		m.stale = true
	}
	s.sighting = next
	if m.shard(s.name) != nil {
		m.highest = max(m.highest, s.epoch())
	} else {
		m.highest = max(m.highest, s.number(epochAnnotation))
	}
}

// slot is what there is to know of a Lease; nil if the Lease is none of ours.
func (m *machine) slot(name string) *slot {
	switch {
	case name == m.record.name:
		return &m.record
	case name == m.membership.name:
		return &m.membership.slot
	case strings.HasPrefix(name, replicaPrefix):
		p := m.peers[name]
		if p == nil {
			p = &peer{slot: slot{name: name}}
			m.peers[name] = p
		}
		return &p.slot
	}
	if s := m.shard(name); s != nil {
		return &s.slot
	}
	return nil
}

// shard is the one that a Lease is of; nil if there is none.
func (m *machine) shard(lease string) *shard { return m.byLease[lease] }

// slots are all, by name.
func (m *machine) slots() map[string]*slot {
	all := map[string]*slot{m.record.name: &m.record, m.membership.name: &m.membership.slot}
	for _, s := range m.shards {
		all[s.name] = &s.slot
	}
	for name, p := range m.peers {
		all[name] = &p.slot
	}
	return all
}

// done takes the end of a call: the Lease as it is now, nil after a deletion, or an error. A
// call that failed proves nothing: it may have been executed.
func (m *machine) done(now time.Time, c call, lease *coordinationv1.Lease, err error) {
	s := m.slot(c.lease)
	s.busy = false
	switch {
	case err == nil && lease != nil:
		s.doubted = false
		s.nextAt = now
		m.saw(now, lease)
		if c.verb != getLease {
			m.wrote(now, s, c)
		}
	case err == nil || apierrors.IsNotFound(err):
		s.doubted = false
		s.nextAt = now.Add(m.jittered(m.cfg.RetryPeriod) / 4)
		if s.version == c.base.version && s.lease != nil {
			m.set(s, sighting{version: s.version, since: now})
		}
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		s.doubted = true
		s.nextAt = now
	default:
		s.nextAt = now.Add(m.jittered(m.cfg.RetryPeriod) / 2)
	}
}

// wrote takes the success of a write. Renewals count from before they were sent.
func (m *machine) wrote(now time.Time, s *slot, c call) {
	until := c.began.Add(m.cfg.RenewDeadline)
	if sh := m.shard(c.lease); sh != nil {
		m.wroteShard(now, sh, c, until)
	} else if s == &m.membership.slot {
		m.membership.until = until
		s.nextAt = m.nextRenewal(c)
	}
}

// nextRenewal is when a Lease is to be renewed after a call that renewed it.
func (m *machine) nextRenewal(c call) time.Time {
	return c.began.Add(m.jittered(m.cfg.RetryPeriod))
}
