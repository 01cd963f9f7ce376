package main

import (
	"fmt"
	"time"
)

// tenure is one replica's time with a shard, as the shard's Lease tells it. Its times are
// those that the replica wrote, by the clock of this machine: requests of a member's writes
// can be held against them.
type tenure struct {
	shard, epoch int
	replica      string
	// began is when the claim was sent, renewed when the last renewal was. The tenure may last
	// for so long after that, by the Lease.
	began, renewed time.Time
	lasts          time.Duration
	// released is when the replica set out to give the Lease back; zero if it has not.
	released time.Time
}

// earlier is the tenure as a clock has it that is behind that of its times.
func (t tenure) earlier(d time.Duration) tenure {
	for _, at := range []*time.Time{&t.began, &t.renewed, &t.released} {
		if !at.IsZero() {
			*at = at.Add(-d)
		}
	}
	return t
}

// end is when the tenure has ended at the latest.
func (t *tenure) end() time.Time {
	if !t.released.IsZero() {
		return t.released
	}
	return t.renewed.Add(t.lasts)
}

// forbids says why a write in the tenure's epoch must not have been; "" if it may. Next is the
// tenure that came after, nil if there was none.
func (t *tenure) forbids(w write, next *tenure) string {
	switch {
	case w.replica != t.replica:
		return fmt.Sprintf("the epoch is that of %s", t.replica)
	case w.received.Before(t.began):
		return fmt.Sprintf("the epoch began at %s", clock(t.began))
	case w.received.After(t.end()):
		return fmt.Sprintf("nobody owned the member: the epoch ended at %s", clock(t.end()))
	case next != nil && w.ended.After(next.began):
		return fmt.Sprintf("%s set out to own the member at %s, in epoch %d", next.replica, clock(next.began), next.epoch)
	}
	return ""
}
