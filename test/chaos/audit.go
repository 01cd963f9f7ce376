package main

import (
	"fmt"
	"slices"

	"github.com/syncline-dev/syncline/test/fleet"
)

// audit is what the audit logs of the members have of our writes. Who writes is told by the
// user of the members' kubeconfigs: a write that forgets its User-Agent does not escape.
type audit struct {
	members []*fleet.Cluster
	read    map[string]fleet.AuditOffset
	writes  map[string][]write // by member
}

func newAudit(f *fleet.Fleet) *audit {
	return &audit{members: f.Members(), read: map[string]fleet.AuditOffset{}, writes: map[string][]write{}}
}

// update reads on.
func (a *audit) update() error {
	for _, m := range a.members {
		events, end, err := m.Audit().Events(a.read[m.Name()], fleet.Writes, fleet.ByUser(fleet.UserClusterAPI))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name(), err)
		}
		a.read[m.Name()] = end
		for i := range events {
			a.writes[m.Name()] = append(a.writes[m.Name()], writeOf(&events[i]))
		}
	}
	return nil
}

// judge holds all that was read against the law, with the tenures of each member's shard.
func (a *audit) judge(tenures func(member string) []*tenure) []violation {
	var found []violation
	for _, m := range a.members {
		writes := a.writes[m.Name()]
		for _, v := range slices.Concat(oneWriter(writes), withinTenures(writes, tenures(m.Name()))) {
			v.what = m.Name() + ": " + v.what
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b violation) int { return a.at.Compare(b.at) })
	return found
}

// count counts the writes that pass.
func (a *audit) count(passes func(write) bool) int {
	n := 0
	for _, writes := range a.writes {
		for _, w := range writes {
			if passes(w) {
				n++
			}
		}
	}
	return n
}
