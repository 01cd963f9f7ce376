package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
)

// settle is the pause between changes, so that one does not disturb the next.
const settle = 700 * time.Millisecond

// propagation: one field of one ConfigMap until the last member has it.
func (b *bench) propagation(ctx context.Context, s settings) error {
	say("propagation of single changes")
	var times series
	for i := range s.changes {
		b.stampOne(i % 10)
		ours := objects(oursNamespace, b.stamps)[i%10 : i%10+1]
		bare := objects(bareNamespace, b.stamps)[i%10 : i%10+1]
		if err := b.both(ctx, i, &times, ours, bare); err != nil {
			return err
		}
	}
	times.ratios("propagation", true)
	return nil
}

// bulk: all objects changed at once.
func (b *bench) bulk(ctx context.Context, s settings) error {
	say("changes of all objects at once")
	var times series
	for i := range s.bulks {
		b.stampAll()
		if err := b.both(ctx, i, &times, objects(oursNamespace, b.stamps), objects(bareNamespace, b.stamps)); err != nil {
			return err
		}
	}
	times.ratios("bulk", false)
	return nil
}

// both makes a change both ways, in turns the one or the other first.
func (b *bench) both(ctx context.Context, turn int, times *series, ours, bare []object) error {
	stamp := ours[0]["metadata"].(object)["annotations"].(object)[stampField].(string)
	met := func(seen string) bool { return seen == stamp }
	ways := []func() error{
		func() error {
			took, err := b.timed(ctx, ours, met, func() error { return b.applyOurs(ctx) })
			times.ours = append(times.ours, took)
			return err
		},
		func() error {
			took, err := b.timed(ctx, bare, met, func() error { return b.applyBare(ctx, bare) })
			times.bare = append(times.bare, took)
			return err
		},
	}
	if turn%2 == 1 {
		slices.Reverse(ways)
	}
	for _, way := range ways {
		if err := way(); err != nil {
			return err
		}
		time.Sleep(settle)
	}
	return nil
}

// timed is the time from the beginning of a change until it is seen on all members.
func (b *bench) timed(ctx context.Context, changed []object, met func(string) bool, change func() error) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	arrived := b.watches.await(ctx, b.everywhere(changed), met)
	began := time.Now()
	if err := change(); err != nil {
		return 0, err
	}
	err := arrived()
	return time.Since(began), err
}

// drift: a deleted ConfigMap until it is back, against a loop that watches and re-applies.
func (b *bench) drift(ctx context.Context, s settings) error {
	say("deleted objects")
	bare := objects(bareNamespace, b.stamps)
	failed := make(chan error, s.changes)
	b.watches.onDelete(func(gone place) {
		for _, o := range bare {
			if at(gone.member, o) == gone {
				go func() { failed <- b.applyBareOne(ctx, gone.member, o) }()
			}
		}
	})
	defer b.watches.onDelete(nil)
	members := b.fleet.Members()
	var times series
	for i := range s.changes {
		member := members[i%len(members)].Name()
		for turn := range 2 {
			ours := (turn+i)%2 == 0
			namespace, into := bareNamespace, &times.bare
			if ours {
				namespace, into = oursNamespace, &times.ours
			}
			took, err := b.deleteAndAwait(ctx, at(member, objects(namespace, b.stamps)[i%10]))
			if err != nil {
				return err
			}
			if !ours {
				if err := <-failed; err != nil {
					return err
				}
			}
			*into = append(*into, took)
			time.Sleep(settle)
		}
	}
	times.ratios("drift", true)
	return nil
}

func (b *bench) deleteAndAwait(ctx context.Context, gone place) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	back := b.watches.await(ctx, []place{gone}, func(stamp string) bool { return stamp != "" })
	began := time.Now()
	err := b.bare[gone.member].Delete().
		AbsPath("/api/v1", "namespaces", gone.namespace, gone.resource, gone.name).Do(ctx).Error()
	if err != nil {
		return 0, fmt.Errorf("delete %v: %w", gone, err)
	}
	err = back()
	return time.Since(began), err
}

// hubWrites: what one changed object on all members costs the hub, Leases and the user's
// own edit aside.
func (b *bench) hubWrites(ctx context.Context, _ settings) error {
	const changes = 10
	say("writes to the hub for one change")
	time.Sleep(5 * time.Second) // what drift left to write is written
	begin := b.fleet.Hub().Audit().End()
	var times series
	for i := range changes {
		b.stampOne(i)
		ours := objects(oursNamespace, b.stamps)[i : i+1]
		met := func(seen string) bool { return seen == b.stamps[i] }
		took, err := b.timed(ctx, ours, met, func() error { return b.applyOurs(ctx) })
		if err != nil {
			return err
		}
		times.ours = append(times.ours, took)
		time.Sleep(3 * time.Second) // until the view is written
	}
	writes, err := b.productWrites(b.fleet.Hub(), begin)
	figure("hub_writes_per_change", float64(writes)/changes, "writes")
	return err
}

// atRest: what is written while nothing happens.
func (b *bench) atRest(ctx context.Context, s settings) error {
	const perMember = 100
	var more []object
	for i := range perMember - 20 {
		more = append(more, object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(oursNamespace, fmt.Sprintf("rest%d", i), "0"),
			"data": object{"key": "value"},
		})
	}
	layer, err := layerOf("rest", 200, more)
	if err != nil {
		return err
	}
	if err := b.hub.Create(ctx, layer); err != nil {
		return err
	}
	if err := b.converged(ctx, "rest"); err != nil {
		return err
	}
	time.Sleep(10 * time.Second)
	say("at rest for %s", s.rest)
	hubBegin := b.fleet.Hub().Audit().End()
	begins := map[string]fleet.AuditOffset{}
	for _, m := range b.fleet.Members() {
		begins[m.Name()] = m.Audit().End()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.rest):
	}
	hubWrites, err := b.productWrites(b.fleet.Hub(), hubBegin)
	if err != nil {
		return err
	}
	memberWrites := 0
	for _, m := range b.fleet.Members() {
		writes, err := b.productWrites(m, begins[m.Name()])
		if err != nil {
			return err
		}
		memberWrites += writes
	}
	figure("rest_member_writes", float64(memberWrites), "writes")
	figure("rest_hub_writes", float64(hubWrites), "writes")
	return nil
}

// productWrites counts what Syncline wrote to a cluster since a position, Leases aside.
func (b *bench) productWrites(c *fleet.Cluster, since fleet.AuditOffset) (int, error) {
	events, _, err := c.Audit().Events(since, fleet.Writes, fleet.NotLeases, fleet.ByUserAgent("syncline"))
	return len(events), err
}
