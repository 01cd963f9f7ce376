package main

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/clusters/shard"
)

// gap is a time in which a member had no owner.
type gap struct {
	member   string
	from, to time.Time
	// joined is the first of a member that was registered: it never had one.
	joined bool
}

func (g gap) lasted() time.Duration { return g.to.Sub(g.from) }

// ownership is who owns which member, as the hub shows it. A member is owned while its status
// names the holder of its shard's Lease, in the Lease's epoch, and that replica is able to
// act. It is told of everything with the time at which it came to be.
type ownership struct {
	shards int

	mu     sync.Mutex
	locked lockedOwnership
}

type lockedOwnership struct {
	tenures []*tenure            // all that began
	current map[int]*tenure      // by shard; none where the Lease was given back
	members map[string]*standing // by name
	unable  map[string]bool      // by replica
	ahead   map[string]bool      // replicas whose clock is ahead, which shows in what they write
	lost    map[*tenure]bool     // those whose replica is unable, or ended
	gaps    []gap
}

// standing is what is known of one member.
type standing struct {
	shard int
	// replica and epoch are those that its status names.
	replica string
	epoch   int
	open    *gap // the present gap; nil while it is owned
}

func newOwnership(shards int) *ownership {
	return &ownership{shards: shards, locked: lockedOwnership{
		current: map[int]*tenure{}, members: map[string]*standing{}, unable: map[string]bool{}, ahead: map[string]bool{}, lost: map[*tenure]bool{},
	}}
}

// leased takes what a shard's Lease says: a tenure that begins, goes on, or was released. It
// reports whether that is a change.
func (o *ownership) leased(at time.Time, said tenure) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &o.locked
	known := l.current[said.shard]
	if l.ahead[said.replica] || known != nil && l.ahead[known.replica] && !said.released.IsZero() {
		said = said.earlier(ahead)
	}
	switch {
	case known != nil && known.epoch == said.epoch && said.released.IsZero():
		known.renewed = said.renewed
		return false
	case known != nil && known.epoch == said.epoch:
		known.released = said.released
		delete(l.current, said.shard)
	case said.released.IsZero():
		l.begin(&said)
	default: // a Lease that nobody has held yet
		return false
	}
	l.look(at)
	return true
}

func (l *lockedOwnership) begin(t *tenure) {
	l.tenures = append(l.tenures, t)
	l.current[t.shard] = t
	if l.unable[t.replica] {
		l.lost[t] = true
	}
}

// stated takes what a member's status says, and reports whether that is a change.
func (o *ownership) stated(at time.Time, member, replica string, epoch int) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.locked.members[member]
	if m == nil || m.replica == replica && m.epoch == epoch {
		return false
	}
	m.replica, m.epoch = replica, epoch
	o.locked.look(at)
	return true
}

// joins takes the registration of a member.
func (o *ownership) joins(at time.Time, member string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: member}
	o.locked.members[member] = &standing{
		shard: shard.Of(key, o.shards),
		open:  &gap{member: member, from: at, joined: true},
	}
}

// leaves takes the end of a registration. What becomes of the member's ownership is nobody's
// concern any more.
func (o *ownership) leaves(member string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.locked.members, member)
}

// fails takes that a replica cannot act from now on: it was killed, stopped or cut off.
func (o *ownership) fails(at time.Time, replica string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.locked.unable[replica] = true
	for _, t := range o.locked.current {
		if t.replica == replica {
			o.locked.lost[t] = true
		}
	}
	o.locked.look(at)
}

// recovers takes that a replica which was stopped or cut off can act again. What it held and
// nobody has taken is its own again.
func (o *ownership) recovers(at time.Time, replica string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.locked.unable, replica)
	for _, t := range o.locked.current {
		if t.replica == replica {
			delete(o.locked.lost, t)
		}
	}
	o.locked.look(at)
}

// starts takes that a process runs under a name. What another held that was killed under it
// stays lost.
func (o *ownership) starts(replica string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.locked.unable, replica)
}

// isAhead takes that the clock of a replica is ahead.
func (o *ownership) isAhead(replica string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.locked.ahead[replica] = true
}

// look opens and closes gaps.
func (l *lockedOwnership) look(at time.Time) {
	for name, m := range l.members {
		owned := l.owned(m)
		switch {
		case owned && m.open != nil:
			m.open.to = at
			l.gaps = append(l.gaps, *m.open)
			m.open = nil
		case !owned && m.open == nil:
			m.open = &gap{member: name, from: at}
		}
	}
}

func (l *lockedOwnership) owned(m *standing) bool {
	t := l.current[m.shard]
	return t != nil && !l.lost[t] && t.replica == m.replica && t.epoch == m.epoch
}

// ownerless are the members without an owner, and since when.
func (o *ownership) ownerless() []gap {
	o.mu.Lock()
	defer o.mu.Unlock()
	var open []gap
	for _, m := range o.locked.members {
		if m.open != nil {
			open = append(open, *m.open)
		}
	}
	return open
}

// gapsSince are the gaps that ended after a time, and those that are open, until now.
func (o *ownership) gapsSince(begin, now time.Time) []gap {
	open := o.ownerless()
	for i := range open {
		open[i].to = now
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	closed := slices.DeleteFunc(slices.Clone(o.locked.gaps), func(g gap) bool { return g.to.Before(begin) })
	return append(closed, open...)
}

// owners are how many members each replica owns.
func (o *ownership) owners() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	owners := map[string]int{}
	for _, m := range o.locked.members {
		if m.open == nil {
			owners[m.replica]++
		}
	}
	return owners
}

// loads are how many shards each replica holds that is able to act.
func (o *ownership) loads() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	loads := map[string]int{}
	for _, t := range o.locked.current {
		if !o.locked.lost[t] {
			loads[t.replica]++
		}
	}
	return loads
}

// tenures are those of the shard of a member, as they are known by now.
func (o *ownership) tenures(member string) []*tenure {
	o.mu.Lock()
	defer o.mu.Unlock()
	index := shard.Of(types.NamespacedName{Namespace: namespace, Name: member}, o.shards)
	var all []*tenure
	for _, t := range o.locked.tenures {
		if t.shard == index {
			known := *t
			all = append(all, &known)
		}
	}
	return all
}
