package main

import (
	"context"
	"fmt"
	"time"
)

// drift: a deleted ConfigMap until it is back, against a loop that watches and re-applies.
func (b *bench) drift(ctx context.Context) error {
	say("deleted objects")
	bare := objects(bareNamespace, b.stamps)
	failed := make(chan error, b.changes)
	b.watches.onChange(func(at place, stamp string) {
		if o := find(bare, at); o != nil && stamp == "" {
			go func() { failed <- b.applyBareOne(ctx, at.cluster, o) }()
		}
	})
	defer b.watches.onChange(nil)
	members := b.fleet.Members()
	var times series
	for i := range b.changes {
		member := members[i%len(members)].Name()
		one := i % measuredConfigMaps
		err := times.both(i,
			func() (time.Duration, error) {
				return b.deleteAndAwait(ctx, at(member, objects(oursNamespace, b.stamps)[one]))
			},
			func() (time.Duration, error) {
				took, err := b.deleteAndAwait(ctx, at(member, bare[one]))
				if err != nil {
					return took, err
				}
				return took, <-failed
			})
		if err != nil {
			return err
		}
	}
	times.ratios("drift", true)
	return nil
}

// find is the object that is meant by a place, or nil.
func find(objects []object, where place) object {
	for _, o := range objects {
		if at(where.cluster, o) == where {
			return o
		}
	}
	return nil
}

func (b *bench) deleteAndAwait(ctx context.Context, gone place) (time.Duration, error) {
	back := func(stamp string) bool { return stamp != "" }
	return b.watches.timed(ctx, []place{gone}, back, func(ctx context.Context) error {
		err := b.bare[gone.cluster].Delete().
			AbsPath("/api/v1", "namespaces", gone.namespace, gone.resource, gone.name).Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("delete %v: %w", gone, err)
		}
		return nil
	})
}
