package main

import (
	"context"
	"fmt"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
)

// hubWrites: what one changed object on all members costs the hub, Leases and the user's
// own edit aside.
func (b *bench) hubWrites(ctx context.Context) error {
	const changes = 10
	say("writes to the hub for one change")
	time.Sleep(5 * time.Second) // what was left to write is written
	begin := b.fleet.Hub().Audit().End()
	for i := range changes {
		b.stampOne(i)
		ours := objects(oursNamespace, b.stamps)[i : i+1]
		if _, err := b.watches.timed(ctx, everywhere(b.fleet.Members(), ours), b.newest(), b.applyOurs); err != nil {
			return err
		}
		time.Sleep(3 * time.Second) // until the view is written
	}
	writes, err := b.productWrites(b.fleet.Hub(), begin)
	if err != nil {
		return err
	}
	figure("hub_writes_per_change", float64(writes)/changes, "writes")
	return nil
}

// atRest: what is written while nothing happens.
func (b *bench) atRest(ctx context.Context) error {
	const (
		name      = "rest"
		perMember = 100
	)
	layer, err := layerOf(name, 200, settingsOf(name, perMember-measuredObjects))
	if err != nil {
		return err
	}
	if err := b.put(ctx, layer); err != nil {
		return err
	}
	time.Sleep(10 * time.Second)
	say("at rest for %s", b.rest)
	hubBegin, begin := b.fleet.Hub().Audit().End(), b.auditEnds()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(b.rest):
	}
	hubWrites, err := b.productWrites(b.fleet.Hub(), hubBegin)
	if err != nil {
		return err
	}
	memberWrites, err := b.memberWrites(begin)
	if err != nil {
		return err
	}
	figure("rest_member_writes", float64(memberWrites), "writes")
	figure("rest_hub_writes", float64(hubWrites), "writes")
	return b.take(ctx, name)
}

// auditEnds are the positions in the members' audit logs.
func (b *bench) auditEnds() map[string]fleet.AuditOffset {
	ends := map[string]fleet.AuditOffset{}
	for _, m := range b.fleet.Members() {
		ends[m.Name()] = m.Audit().End()
	}
	return ends
}

// memberWrites counts what Syncline wrote to all members since positions.
func (b *bench) memberWrites(since map[string]fleet.AuditOffset) (int, error) {
	all := 0
	for _, m := range b.fleet.Members() {
		writes, err := b.productWrites(m, since[m.Name()])
		if err != nil {
			return 0, fmt.Errorf("writes to %s: %w", m.Name(), err)
		}
		all += writes
	}
	return all, nil
}

// productWrites counts what Syncline wrote to a cluster since a position, Leases aside.
func (b *bench) productWrites(c *fleet.Cluster, since fleet.AuditOffset) (int, error) {
	events, _, err := c.Audit().Events(since, fleet.Writes, fleet.NotLeases, fleet.ByUserAgent("syncline"))
	return len(events), err
}
