package member

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// failuresToUnreachable is how many probes must fail in a row before a member that was
// reachable counts as unreachable. One that succeeds makes it reachable again.
const failuresToUnreachable = 3

// Reachability is what is known of the connection to a member.
type Reachability struct {
	// Reachable says that the member answers. It is false until the first answer.
	Reachable bool
	// Since is when Reachable last changed; before the first verdict it is zero.
	Since time.Time
	// LastSeen is when the member last answered; zero if it never did.
	LastSeen time.Time
	// Err says why the member is not reachable or, when it is, why UID is unknown. Equal
	// causes have equal texts.
	Err string
	// Version is the member's Kubernetes version, and UID that of its kube-system
	// namespace, as last read. They outlast the member's absence.
	Version string
	UID     types.UID
}

// identity is what is read of a member after it came (back) into reach.
type identity struct {
	version string
	uid     types.UID
	problem string // why uid is unknown though the member answers
}

// reach is the breaker: it turns single answers and failures into a Reachability.
type reach struct {
	mu     sync.Mutex
	locked lockedReach
}

type lockedReach struct {
	Reachability
	failures int
	open     bool // the last verdict is that the member is unreachable
	underway map[*context.CancelCauseFunc]struct{}
}

// errOutOfSight ends requests that are under way when the member is found unreachable.
// Whether they were executed is unknown.
var errOutOfSight = errors.New("the member went out of sight while the request was under way")

func (r *reach) get() Reachability {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.locked.Reachability
}

// unreachable says that requests need not be tried: the probe will tell when they may.
// Before the first verdict it is false.
func (r *reach) unreachable() (reason string, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.locked.Err, r.locked.open
}

// seen records an answer to any request. It keeps a member reachable, but does not make it
// so: that takes a probe, which knows the member's identity.
func (r *reach) seen(now time.Time) (open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.locked.LastSeen = now
	r.locked.failures = 0
	return r.locked.open
}

// during returns a context for a request. It ends, with errOutOfSight for its cause, when
// the member is found unreachable: the answer would only be waited for. While it is so
// already, the error says it. The caller calls done.
func (r *reach) during(ctx context.Context) (_ context.Context, done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.locked.open {
		return nil, nil, &refusal{ErrUnreachable, "(" + r.locked.Err + ")"}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if r.locked.underway == nil {
		r.locked.underway = map[*context.CancelCauseFunc]struct{}{}
	}
	r.locked.underway[&cancel] = struct{}{}
	return ctx, func() {
		r.mu.Lock()
		delete(r.locked.underway, &cancel)
		r.mu.Unlock()
		cancel(nil)
	}, nil
}

// unanswered records a request that was sent at a time and never answered. If nothing else
// was answered since either, the next probe that fails is the verdict.
func (r *reach) unanswered(since time.Time) (suspect bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.locked.LastSeen.After(since) {
		return false
	}
	r.locked.failures = max(r.locked.failures, failuresToUnreachable-1)
	return true
}

// succeeded records a probe, with what is known of the member's identity.
func (r *reach) succeeded(now time.Time, who identity) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.locked.Reachability
	if !next.Reachable {
		next.Reachable, next.Since = true, now
	}
	next.Err, next.Version = who.problem, who.version
	if who.uid != "" {
		next.UID = who.uid
	}
	r.locked.failures, r.locked.open = 0, false
	return r.settle(next, now)
}

// failed records a failed probe. The first failure of a member that was never reachable is
// a verdict; otherwise it takes several in a row.
func (r *reach) failed(now time.Time, reason string) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.locked.failures++
	if r.locked.Reachable && r.locked.failures < failuresToUnreachable {
		return false
	}
	next := r.locked.Reachability
	if next.Reachable || next.Since.IsZero() {
		next.Since = now
	}
	next.Reachable, next.Err = false, reason
	r.locked.open = true
	for cancel := range r.locked.underway {
		(*cancel)(errOutOfSight)
	}
	return r.settle(next, next.LastSeen)
}

// settle takes over the next state; being seen again is not a change in itself.
func (r *reach) settle(next Reachability, lastSeen time.Time) (changed bool) {
	changed = next != r.locked.Reachability
	next.LastSeen = lastSeen
	r.locked.Reachability = next
	return changed
}
