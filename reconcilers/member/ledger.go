package member

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// ledger is what the reconciler remembers between passes so as not to repeat itself: the
// bindings as it last wrote them, which the cache may not show yet, and what members
// refused. Losing it costs a repetition and nothing else.
type ledger struct {
	mu     sync.Mutex
	locked map[types.NamespacedName]*pages
}

// pages are the ledger of one member. Only the one worker that serves the member uses
// them.
type pages struct {
	written map[string]*v1alpha1.LayerBinding
	refused map[object.ID]refusal
}

// refusal is an object that the member did not take.
type refusal struct {
	// applied is the digest of what was sent: another content is tried at once.
	applied string
	problem object.Problem
	// terminal says that the same content will not pass by itself.
	terminal bool
	// attempts counts failures of the same content.
	attempts int
	// retryAt is when the same content is tried again.
	retryAt time.Time
}

// stands says whether the refusal is of this content.
func (r refusal) stands(applied string) bool { return r.applied == applied }

// lasting says whether a person should hear of it: it will not pass by itself, or has not
// passed for a while.
func (r refusal) lasting() bool { return r.terminal || r.attempts > 3 }

func newLedger() *ledger {
	return &ledger{locked: map[types.NamespacedName]*pages{}}
}

// of are the pages of a member, new ones if there are none.
func (l *ledger) of(key types.NamespacedName) *pages {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.locked[key]
	if p == nil {
		p = &pages{written: map[string]*v1alpha1.LayerBinding{}, refused: map[object.ID]refusal{}}
		l.locked[key] = p
	}
	return p
}

// close forgets a member.
func (l *ledger) close(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.locked, key)
}

// newest is the newer of the binding that the cache has and the one that was last written.
func (l *ledger) newest(key types.NamespacedName, cached *v1alpha1.LayerBinding) *v1alpha1.LayerBinding {
	written := l.of(key).written[cached.Name]
	if written == nil || written.UID != cached.UID {
		return cached
	}
	order, err := resourceversion.CompareResourceVersion(written.ResourceVersion, cached.ResourceVersion)
	if err != nil || order <= 0 {
		return cached
	}
	return written
}

// Back-off of refused objects: what may pass by itself is tried again soon, what waits for
// a person is tried rarely, since a person's change is seen at once.
const (
	firstRetry    = time.Second
	lastRetry     = time.Minute
	terminalRetry = 10 * time.Minute
)

// refuse notes a failure, and when to try again.
func (p *pages) refuse(id object.ID, applied string, problem object.Problem, terminal bool, now time.Time) {
	attempts := 1
	if before, known := p.refused[id]; known && before.applied == applied {
		attempts = before.attempts + 1
	}
	wait := min(lastRetry, firstRetry<<min(attempts-1, 10))
	if terminal {
		wait = terminalRetry
	}
	p.refused[id] = refusal{applied: applied, problem: problem, terminal: terminal, attempts: attempts, retryAt: now.Add(wait)}
}

// accepted forgets a refusal.
func (p *pages) accepted(id object.ID) { delete(p.refused, id) }

// removing stands for the content of an object that is to be deleted.
const removing = "(removal)"

// forgetExcept forgets the refusals of objects that are neither wanted nor listed.
func (p *pages) forgetExcept(objects []wanted, listed inventory) {
	if len(p.refused) == 0 {
		return
	}
	still := make(map[object.ID]bool, len(objects))
	for _, w := range objects {
		still[w.ID] = true
	}
	maps.DeleteFunc(p.refused, func(id object.ID, _ refusal) bool {
		_, isListed := listed[id]
		return !still[id] && !isListed
	})
}

// holds says whether a content was refused and its time to be tried again has not come.
func (p *pages) holds(id object.ID, applied string, now time.Time) bool {
	known, ok := p.refused[id]
	return ok && known.stands(applied) && now.Before(known.retryAt)
}

// nextRetry is how long after now the first refusal is tried again; 0 if there is none.
func (p *pages) nextRetry(now time.Time) time.Duration {
	var next time.Duration
	for _, refused := range p.refused {
		wait := max(refused.retryAt.Sub(now), time.Millisecond)
		if next == 0 || wait < next {
			next = wait
		}
	}
	return next
}
