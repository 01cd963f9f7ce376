package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

// absence is a way in which a member stops answering and comes back.
type absence struct {
	figures     string // what its figures are called
	member      *fleet.Cluster
	leave, back func() error
}

// frozen: all objects changed while the last member's processes are stopped, until all
// others have them.
func (b *bench) frozen(ctx context.Context) error {
	say("changes while a member is frozen")
	last := b.last()
	return b.away(ctx, absence{"frozen", last, last.Freeze, last.Thaw})
}

// blackhole: the same while the network drops the last member's packets.
func (b *bench) blackhole(ctx context.Context) (err error) {
	say("changes while a member's packets are dropped")
	const user = "bench-proxied"
	last := b.last()
	proxy, err := last.StartProxy()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.restore(ctx, last), proxy.Close()) }()
	through, err := proxy.KubeconfigFor(user, mastersGroup)
	if err != nil {
		return err
	}
	if err := b.reconnect(ctx, last, user, through); err != nil {
		return err
	}
	return b.away(ctx, absence{"frozen_blackhole", last, proxy.Blackhole, proxy.Heal})
}

func (b *bench) last() *fleet.Cluster {
	members := b.fleet.Members()
	return members[len(members)-1]
}

// away compares changes while a member is away, from its first moment on, with changes
// while all members are there, and tells how long it takes until the view shows it.
func (b *bench) away(ctx context.Context, a absence) error {
	var with, without, seen []time.Duration
	for range b.absences {
		took, err := b.leave(ctx, a, &without)
		if err != nil {
			return err
		}
		seen = append(seen, took)
		if err := b.converged(ctx, measured); err != nil {
			return err
		}
		for len(with) < len(without) {
			if err := b.changeOthers(ctx, a.member, &with); err != nil {
				return err
			}
		}
	}
	figure(a.figures+"_ratio_p99", ratio(without, with, 0.99), "ratio")
	figure(a.figures+"_ratio_p50", ratio(without, with, 0.5), "ratio")
	figure(a.figures+"_p99_ms", milliseconds(percentile(without, 0.99)), "ms")
	figure(a.figures+"_seen_s", slices.Max(seen).Seconds(), "s")
	return nil
}

// leave takes the times of changes from the moment at which a member leaves until the view
// shows that it is away, and tells how long that took. The member is back when it returns:
// if it were frozen for longer, its own controllers would give its node up.
func (b *bench) leave(ctx context.Context, a absence, times *[]time.Duration) (seen time.Duration, err error) {
	var looking sync.WaitGroup
	defer looking.Wait()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	left := time.Now()
	if err := a.leave(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, a.back()) }()
	shown := make(chan time.Duration, 1)
	looking.Go(func() {
		defer close(shown)
		if b.unknown(ctx) == nil {
			shown <- time.Since(left)
		}
	})
	for {
		if err := b.changeOthers(ctx, a.member, times); err != nil {
			return 0, err
		}
		select {
		case seen, ok := <-shown:
			if !ok {
				return 0, fmt.Errorf("the view does not show that %s is away", a.member.Name())
			}
			return seen, nil
		default:
		}
	}
}

// changeOthers takes the time until all members but one have a change of all objects.
func (b *bench) changeOthers(ctx context.Context, away *fleet.Cluster, times *[]time.Duration) error {
	b.stampAll()
	others := slices.DeleteFunc(b.fleet.Members(), func(m *fleet.Cluster) bool { return m == away })
	places := everywhere(others, objects(oursNamespace, b.stamps))
	return add(times, func() (time.Duration, error) {
		return b.watches.timed(ctx, places, b.newest(), b.applyOurs)
	})
}

// unknown waits until the view counts a member of the measured layer as Unknown.
func (b *bench) unknown(ctx context.Context) error {
	return until(ctx, func(ctx context.Context) (bool, error) {
		var layer v1alpha1.Layer
		err := b.hub.Get(ctx, client.ObjectKey{Namespace: hubNamespace, Name: measured}, &layer)
		return layer.Status.Members.Unknown > 0, err
	})
}
