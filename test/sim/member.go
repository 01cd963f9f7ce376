package sim

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// twoWriters begins the violations that must never be.
const twoWriters = "two writers"

// ledger is a member's memory of who writes to it: its audit log.
type ledger struct {
	key      types.NamespacedName
	timeline *timeline

	mu     sync.Mutex
	locked lockedLedger
}

type lockedLedger struct {
	writers map[string]int // writes under way, by process
	highest int            // epoch
	last    string         // who wrote in it
	served  map[string]int // engagements, by process
}

func newLedger(key types.NamespacedName, t *timeline) *ledger {
	return &ledger{key: key, timeline: t, locked: lockedLedger{writers: map[string]int{}, served: map[string]int{}}}
}

// arrive takes a write that a process sent: it is under way, and takes effect after a while. If
// the process cuts it off before, it may take effect within grace all the same. Arrive
// returns when the process gives up or has its answer, and says which.
func (l *ledger) arrive(ctx context.Context, who string, epoch int, takes, grace time.Duration) (answered bool) {
	l.begin(who)
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		l.effect(who, epoch)
		return true
	case <-ctx.Done():
		time.AfterFunc(min(takes, grace), func() { l.effect(who, epoch) })
		return false
	}
}

func (l *ledger) begin(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked.writers[who]++
	for other := range l.locked.writers {
		if other != who {
			l.timeline.violate(who, twoWriters+": a write to %s while one of %s is under way", l.key, other)
		}
	}
}

func (l *ledger) effect(who string, epoch int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked.writers[who]--; l.locked.writers[who] == 0 {
		delete(l.locked.writers, who)
	}
	if epoch < l.locked.highest || epoch == l.locked.highest && who != l.locked.last {
		l.timeline.violate(who, twoWriters+": a write to %s in epoch %d takes effect after one of %s in epoch %d", l.key, epoch, l.locked.last, l.locked.highest)
		return
	}
	l.locked.highest, l.locked.last = epoch, who
}

// engaged counts the engagements of the member with a process.
func (l *ledger) engaged(who string, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked.served[who] += by; l.locked.served[who] == 0 {
		delete(l.locked.served, who)
	}
}

// servedBy is who has the member engaged now.
func (l *ledger) servedBy() (processes []string, engagements int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who, n := range l.locked.served {
		processes = append(processes, who)
		engagements += n
	}
	return processes, engagements
}
