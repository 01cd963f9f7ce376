package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

const (
	// lateShare of status writes on the hub arrive later by lateBy.
	lateShare = 0.3
	lateBy    = 800 * time.Millisecond
	// loadLasts is for how long statuses change, and for how long drift is mended.
	loadLasts = 20 * time.Second
	// trailing is for how long writes are counted after the last change is shown: the view as a
	// whole follows what it sums up.
	trailing = 2 * time.Second
)

// status: statuses change fast on all members while the hub takes some writes of status
// slowly. Syncline, which coalesces them, is compared with a controller as they are commonly
// written, which writes one status for each change.
//
// Each change carries a number, in the message of a condition, which both show for each
// Deployment: the time of a change is from its beginning until the hub shows its number or a
// later one. The direct controller falls behind; changes that it never shows count with the
// time until the scenario gives up, which is less than they would have taken.
//
// The ratio of writes is of those that one shown change costs: of Syncline's all statuses
// count, also those of members, of layers and of the Federation. The throughput is that of
// mended drift, with slow writes of status and without.
func (b *bench) status(ctx context.Context) (err error) {
	slow := &slowHub{}
	gateway, err := b.fleet.Hub().StartGateway(slow.around)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gateway.Close()) }()
	return b.through(ctx, gateway, func() error {
		if err := b.throughput(ctx, slow); err != nil {
			return err
		}
		return b.coalescing(ctx, gateway, slow)
	})
}

// through has the manager that serves all members reach the hub by a gateway, while something
// is done, and then directly again.
func (b *bench) through(ctx context.Context, gateway *fleet.Gateway, do func() error) (err error) {
	standing := b.product.Replicas[len(b.product.Replicas)-1]
	if err := standing.Terminate(stopTimeout); err != nil {
		return err
	}
	defer func() {
		_, failed := b.product.StartReplica(ctx)
		if failed == nil {
			failed = b.converged(ctx, measured)
		}
		err = errors.Join(err, failed)
	}()
	manager, err := b.product.StartReplicaWith(ctx, install.ReplicaOptions{Hub: gateway})
	if manager != nil {
		defer func() { err = errors.Join(err, manager.Terminate(stopTimeout)) }()
	}
	if err != nil {
		return err
	}
	return do()
}

// throughput compares how much drift is mended with slow writes of status and without.
func (b *bench) throughput(ctx context.Context, slow *slowHub) error {
	say("mended drift while statuses are written fast")
	fast, err := b.mendedDrift(ctx)
	if err != nil {
		return err
	}
	say("mended drift while statuses are written slowly")
	slow.set(true)
	slowed, err := b.mendedDrift(ctx)
	if err != nil {
		return err
	}
	figure("throughput_drop", 1-slowed.perSecond()/fast.perSecond(), "ratio")
	figure("mends_per_s", fast.perSecond(), "1/s")
	figure("mends_slow_status_per_s", slowed.perSecond(), "1/s")
	figure("mends_p50_ms", milliseconds(percentile(fast.times, 0.5)), "ms")
	figure("mends_slow_status_p50_ms", milliseconds(percentile(slowed.times, 0.5)), "ms")
	return nil
}

// coalescing compares the writes of statuses, and how far the hub is behind.
func (b *bench) coalescing(ctx context.Context, gateway *fleet.Gateway, slow *slowHub) error {
	slow.set(true)
	direct, err := b.newDirect(ctx, gateway)
	if err != nil {
		return err
	}
	say("changes of status, coalesced")
	ours, err := b.flood(ctx, bindingsShow, slow)
	if err != nil {
		return err
	}
	if err := b.converged(ctx, measured); err != nil {
		return err
	}
	var others flooded
	say("changes of status, each written directly")
	err = direct.during(ctx, func() (err error) {
		others, err = b.flood(ctx, reportsShow, slow)
		return err
	})
	if err != nil {
		return err
	}
	figure("status_writes_ratio", others.writesPerChange()/ours.writesPerChange(), "ratio")
	figure("status_p99_ratio", ratio(ours.times, others.times, 0.99), "ratio")
	figure("status_p99_s", percentile(ours.times, 0.99).Seconds(), "s")
	figure("status_p50_s", percentile(ours.times, 0.5).Seconds(), "s")
	figure("status_direct_p99_s", percentile(others.times, 0.99).Seconds(), "s")
	figure("status_direct_p50_s", percentile(others.times, 0.5).Seconds(), "s")
	figure("status_changes_per_s", ours.perSecond(), "1/s")
	figure("status_direct_changes_per_s", others.perSecond(), "1/s")
	figure("status_writes_per_s", float64(ours.writes)/loadLasts.Seconds(), "1/s")
	return nil
}

// slowHub stands before the hub, may have some writes of status arrive late, and counts them.
type slowHub struct {
	mu     sync.Mutex
	locked struct {
		late   bool
		writes map[write]int
	}
}

// write is a kind of write of status.
type write struct{ userAgent, resource string }

func (h *slowHub) around(next http.Handler) http.Handler {
	return fleet.SlowStatusWrites(h.delay, next)
}

// set says whether writes arrive late from now on.
func (h *slowHub) set(late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.locked.late = late
}

// delay counts a write of status, and says by how much it is late.
func (h *slowHub) delay(r *http.Request) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.locked.writes == nil {
		h.locked.writes = map[write]int{}
	}
	h.locked.writes[write{r.UserAgent(), path.Base(path.Dir(path.Dir(r.URL.Path)))}]++
	if h.locked.late && rand.Float64() < lateShare {
		return lateBy
	}
	return 0
}

// begin counts anew.
func (h *slowHub) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.locked.writes)
}

// written is how many statuses were written since begin by clients whose User-Agent begins with
// prefix.
func (h *slowHub) written(prefix string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, byResource := 0, map[string]int{}
	for w, n := range h.locked.writes {
		if strings.HasPrefix(w.userAgent, prefix) {
			all += n
			byResource[w.resource] += n
		}
	}
	say("statuses written by %s: %v", prefix, byResource)
	return all
}
