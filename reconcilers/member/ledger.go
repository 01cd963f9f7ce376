package member

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/layer"
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
	// drifts are the changes by others that are told and not mended.
	drifts map[object.ID]drift
	// contests are the changes by others that were mended lately.
	contests map[object.ID]contest
	// again are the layers whose objects are all to be sent once more.
	again map[layer.Ref]bool
	// facts are what preconditions have asked of the member.
	facts facts
	// answers are of the layers' assertions, judged is what their health rules have said.
	answers map[layer.Ref]answers
	judged  map[object.ID]judgement
	// pace is that of statuses.
	pace pace
}

// drift is what was found when an object was last read.
type drift struct {
	// version is the resourceVersion that the object had then.
	version string
	// problem is zero if nothing was found that differs from what is wanted.
	problem object.Problem
}

// contest counts how often others have made the same change.
type contest struct {
	change string
	times  int
	last   time.Time
	// heldUntil is when the change is mended again; zero while it is mended at once.
	heldUntil time.Time
}

// refusal is an object that the member did not take.
type refusal struct {
	// attempt says what was tried (see step.attempt): something else is tried at once.
	attempt string
	problem object.Problem
	// terminal says that the same content will not pass by itself.
	terminal bool
	// attempts counts failures of the same content.
	attempts int
	// retryAt is when the same content is tried again.
	retryAt time.Time
}

// stands says whether the refusal is of this attempt.
func (r refusal) stands(attempt string) bool { return r.attempt == attempt }

// lasting says whether a person should hear of it: it will not pass by itself, or has not
// passed for a while.
func (r refusal) lasting() bool { return r.terminal || r.attempts > 3 }

func newPages() *pages {
	return &pages{
		written: map[string]*v1alpha1.LayerBinding{}, refused: map[object.ID]refusal{},
		drifts: map[object.ID]drift{}, contests: map[object.ID]contest{}, again: map[layer.Ref]bool{},
		answers: map[layer.Ref]answers{}, judged: map[object.ID]judgement{}, pace: pace{},
	}
}

func newLedger() *ledger {
	return &ledger{locked: map[types.NamespacedName]*pages{}}
}

// of are the pages of a member, new ones if there are none.
func (l *ledger) of(key types.NamespacedName) *pages {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.locked[key]
	if p == nil {
		p = newPages()
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
	switch {
	case err != nil:
		return cached
	case order <= 0:
		delete(l.of(key).written, cached.Name) // the cache has caught up, and a copy is memory
		return cached
	}
	return written
}

// Back-off of refused objects: what may pass by itself is tried again soon, what waits for
// a person is tried rarely, since a person's change is seen at once. What that person does
// on the member, where nothing tells us of it, is asked for after lastRetry, and then less
// and less often.
const (
	firstRetry    = time.Second
	lastRetry     = time.Minute
	terminalRetry = 10 * time.Minute
)

// mendedUnseen are the reasons that end with what is done on the member: rights are given,
// another's object or claim is removed.
var mendedUnseen = []string{member.ReasonForbidden, member.ReasonFieldConflict, reasonExists}

// refuse notes a failure, and when to try again.
func (p *pages) refuse(id object.ID, attempt string, problem object.Problem, terminal bool, now time.Time) {
	attempts := 1
	if before, known := p.refused[id]; known && before.attempt == attempt {
		attempts = before.attempts + 1
	}
	wait := min(lastRetry, firstRetry<<min(attempts-1, 10))
	switch {
	case terminal && slices.Contains(mendedUnseen, problem.Reason):
		wait = min(terminalRetry, lastRetry<<min(attempts-1, 10))
	case terminal:
		wait = terminalRetry
	}
	p.refused[id] = refusal{attempt: attempt, problem: problem, terminal: terminal, attempts: attempts, retryAt: now.Add(wait)}
}

// accepted forgets a refusal.
func (p *pages) accepted(id object.ID) { delete(p.refused, id) }

// report remembers what was found of a drift, as long as the object stays as it was, and
// says whether that is news.
func (p *pages) report(id object.ID, version string, problem object.Problem) bool {
	before := p.drifts[id].problem
	p.drifts[id] = drift{version, problem}
	return problem != before
}

// reported is what was found of an object that others had changed to be as it is now.
func (p *pages) reported(id object.ID, version string) (object.Problem, bool) {
	known, ok := p.drifts[id]
	return known.problem, ok && known.version == version
}

// A change that others make as often as we mend it is no accident. The fifth time we stop
// mending it at once: an autoscaler acts every 15 seconds, so that this is a minute or so.
// A change that comes longer after we have mended it is one for itself.
const (
	contestMemory   = time.Minute
	timesToContest  = 5
	contestedRetry  = 20 * time.Second
	contestedLonger = 10 * time.Minute
)

// contest counts a change by others, and says whether it has become one too many. After it was
// held for that reason, the first is free.
func (p *pages) contest(id object.ID, change string, now time.Time) (contested bool) {
	known := p.contests[id]
	defer func() { p.contests[id] = known }()
	wasHeld := !known.heldUntil.IsZero()
	known.heldUntil = time.Time{}
	switch {
	case known.change != change || now.Sub(known.last) > contestMemory+known.held():
		known = contest{change: change}
	case wasHeld:
		known.last = now
		return false
	}
	known.times, known.last = known.times+1, now
	return known.times >= timesToContest
}

// held is for how long the object is held after the last change.
func (c contest) held() time.Duration {
	if c.times < timesToContest {
		return 0
	}
	return min(contestedLonger, contestedRetry<<min(c.times-timesToContest, 10))
}

// backOff holds a contested object, for longer each time.
func (p *pages) backOff(id object.ID, attempt string, problem object.Problem, now time.Time) {
	known := p.contests[id]
	known.heldUntil = now.Add(known.held())
	p.contests[id] = known
	p.refused[id] = refusal{attempt: attempt, problem: problem, terminal: true, attempts: known.times, retryAt: known.heldUntil}
}

// removing stands for the content of an object that is to be deleted.
const removing = "(removal)"

// forget forgets objects that are neither wanted nor listed, and that an object was contested
// when its time is over: if it still is, that will show.
func (p *pages) forget(objects []wanted, listed inventory, now time.Time) {
	if len(p.refused)+len(p.drifts)+len(p.contests)+len(p.judged) == 0 {
		return
	}
	still := make(map[object.ID]bool, len(objects))
	for _, w := range objects {
		still[w.ID] = true
	}
	isForgotten := func(id object.ID) bool {
		_, isListed := listed[id]
		return !still[id] && !isListed
	}
	maps.DeleteFunc(p.refused, func(id object.ID, r refusal) bool {
		return isForgotten(id) || r.problem.Reason == reasonContested && !now.Before(r.retryAt)
	})
	maps.DeleteFunc(p.drifts, func(id object.ID, _ drift) bool { return isForgotten(id) })
	maps.DeleteFunc(p.judged, func(id object.ID, _ judgement) bool { return isForgotten(id) })
	maps.DeleteFunc(p.contests, func(id object.ID, _ contest) bool { return isForgotten(id) })
}

// holds says whether an attempt was refused and its time to be tried again has not come.
func (p *pages) holds(id object.ID, attempt string, now time.Time) bool {
	known, ok := p.refused[id]
	return ok && known.stands(attempt) && now.Before(known.retryAt)
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
