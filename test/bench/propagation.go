package main

import (
	"context"
	"time"
)

// propagation: one field of one ConfigMap until the last member has it.
func (b *bench) propagation(ctx context.Context) error {
	say("single changes")
	var times series
	for i := range b.changes {
		one := i % measuredConfigMaps
		b.stampOne(one)
		if err := b.change(ctx, i, &times, one, one+1); err != nil {
			return err
		}
	}
	times.ratios("propagation", true)
	return nil
}

// bulk: all objects changed at once.
func (b *bench) bulk(ctx context.Context) error {
	say("changes of all objects at once")
	var times series
	for i := range b.bulks {
		b.stampAll()
		if err := b.change(ctx, i, &times, 0, measuredObjects); err != nil {
			return err
		}
	}
	times.ratios("bulk", false)
	return nil
}

// change brings the objects that were stamped last, from one to another, to all members
// both ways.
func (b *bench) change(ctx context.Context, turn int, times *series, from, to int) error {
	ours := objects(oursNamespace, b.stamps)[from:to]
	bare := objects(bareNamespace, b.stamps)[from:to]
	return times.both(turn,
		func() (time.Duration, error) {
			return b.watches.timed(ctx, everywhere(b.fleet.Members(), ours), b.newest(), b.applyOurs)
		},
		func() (time.Duration, error) {
			return b.watches.timed(ctx, everywhere(b.fleet.Members(), bare), b.newest(), func(ctx context.Context) error {
				return b.applyBare(ctx, bare)
			})
		})
}
