package main

import (
	"context"
	"errors"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// teamSize is how many processes share the members.
	teamSize = 3
	// stopTimeout is how long one may take to stop when it is asked to.
	stopTimeout = time.Minute
	// leaseWindow is for how long writes of Leases are counted.
	leaseWindow = 30 * time.Second
)

// moves are for how long changes stayed unmended on members whose owner changed.
type moves struct {
	handovers, takeovers []time.Duration
}

// ownership: members change their owners under load, Syncline's and those of
// multicluster-runtime's own coordinator, one after the other.
func (b *bench) ownership(ctx context.Context) (err error) {
	if err := b.keepBoth(ctx); err != nil {
		return err
	}
	standing := b.product.Replicas[len(b.product.Replicas)-1]
	if err := standing.Terminate(stopTimeout); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.discardBoth(ctx)) }()
	ours, err := b.moved(ctx, b.syncline(), b.leases)
	if err != nil {
		return err
	}
	figure("handover_gap_p99_ms", milliseconds(percentile(ours.handovers, 0.99)), "ms")
	figure("handover_gap_p50_ms", milliseconds(percentile(ours.handovers, 0.5)), "ms")
	figure("takeover_p99_s", percentile(ours.takeovers, 0.99).Seconds(), "s")
	figure("takeover_p50_s", percentile(ours.takeovers, 0.5).Seconds(), "s")
	other, err := b.mcr(ctx)
	if err != nil {
		return err
	}
	theirs, err := b.moved(ctx, other, nil)
	if err != nil {
		return err
	}
	figure("mcr_handover_gap_p99_s", percentile(theirs.handovers, 0.99).Seconds(), "s")
	figure("mcr_takeover_p99_s", percentile(theirs.takeovers, 0.99).Seconds(), "s")
	figure("handover_gap_vs_mcr", ratio(ours.handovers, theirs.handovers, 0.99), "ratio")
	figure("takeover_vs_mcr", ratio(ours.takeovers, theirs.takeovers, 0.99), "ratio")
	return nil
}

// keepBoth makes what probers change, on every member one that Syncline keeps and one for
// multicluster-runtime's controller.
func (b *bench) keepBoth(ctx context.Context) error {
	layer, err := layerOf(keptName, 300, []object{keptIn(oursNamespace)})
	if err != nil {
		return err
	}
	if err := b.put(ctx, layer); err != nil {
		return err
	}
	return b.applyBare(ctx, []object{keptIn(bareNamespace)})
}

// discardBoth has one manager serve all members again, and takes away what keepBoth made.
func (b *bench) discardBoth(ctx context.Context) error {
	if _, err := b.product.StartReplica(ctx); err != nil {
		return err
	}
	return b.take(ctx, keptName)
}

// moved makes members move: processes are stopped as they should be, or killed, and new ones
// come. While it all runs, and nobody changes anything on the members, atRest is called.
func (b *bench) moved(ctx context.Context, c contender, atRest func(context.Context) error) (found moves, err error) {
	say("three processes of %s share the members", c.name)
	t, err := b.gather(ctx, c, teamSize)
	defer func() { err = errors.Join(err, t.disband()) }()
	if err != nil {
		return found, err
	}
	calm := time.Now()
	for range b.handovers {
		stop := func(p *peer) error { return p.Terminate(stopTimeout) }
		if err := t.replace(ctx, "stopped", stop, &found.handovers, &found.handovers); err != nil {
			return found, err
		}
	}
	figure(c.name+"_mend_p50_ms", milliseconds(percentile(t.probers.lasted(calm), 0.5)), "ms")
	for range b.kills {
		kill := func(p *peer) error { return p.Kill() }
		if err := t.replace(ctx, "killed", kill, &found.takeovers, &found.handovers); err != nil {
			return found, err
		}
	}
	if len(found.handovers) == 0 || len(found.takeovers) == 0 {
		return found, errors.New("no member moved")
	}
	if atRest == nil {
		return found, nil
	}
	t.probers.stop()
	t.probers = nil
	return found, atRest(ctx)
}

// replace ends one process and starts another, and notes the gaps at each.
func (t *team) replace(ctx context.Context, what string, end func(*peer) error, left, joined *[]time.Duration) error {
	gaps, err := t.move(ctx, what, func(ctx context.Context) error { return t.leave(ctx, end) })
	if err != nil {
		return err
	}
	*left = append(*left, gaps...)
	gaps, err = t.move(ctx, "started", t.join)
	*joined = append(*joined, gaps...)
	return err
}

// leases: what the hub is written to while three replicas share members that are at rest.
func (b *bench) leases(ctx context.Context) error {
	say("writes to the hub at rest")
	time.Sleep(10 * time.Second) // what was left to write is written
	begin, began := b.fleet.Hub().Audit().End(), time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(leaseWindow):
	}
	all, _, err := b.fleet.Hub().Audit().Events(begin, fleet.Writes, fleet.ByUserAgent("syncline"))
	if err != nil {
		return err
	}
	others, err := b.productWrites(b.fleet.Hub(), begin)
	if err != nil {
		return err
	}
	figure("lease_writes_per_s", float64(len(all)-others)/time.Since(began).Seconds(), "writes/s")
	figure("hub_writes_at_rest", float64(others), "writes")
	return nil
}
