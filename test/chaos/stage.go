package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

const (
	// namespace is where members and layers are on the hub.
	namespace = "fleet"
	// shards is how many the managers have by default.
	shards = 64
	// crew is how many replicas there are when a trouble begins.
	crew = 3

	pollInterval = 50 * time.Millisecond
)

// stage is a fleet with its managers, what is done to them, and what is seen of them.
type stage struct {
	settings
	programsAhead string // where a manager is whose clock is ahead; "" if none is needed

	timeline  timeline
	fleet     *fleet.Fleet
	product   *install.Installation
	hub       dynamic.Interface
	ownership *ownership
	vandals   *vandals
	audit     *audit
	replicas  []*replica // that run, the eldest first
	started   int
}

// newStage installs Syncline on a fleet, without managers and layers.
func newStage(ctx context.Context, f *fleet.Fleet, s settings, t timeline) (*stage, error) {
	hub, err := dynamic.NewForConfig(f.Hub().RESTConfig())
	if err != nil {
		return nil, err
	}
	product, err := install.Install(ctx, f, install.Options{Race: s.race, Args: s.timings.flags()})
	if err != nil {
		return nil, err
	}
	return &stage{
		settings: s, timeline: t, fleet: f, product: product, hub: hub,
		ownership: newOwnership(shards), vandals: newVandals(t, s.pace.drift), audit: newAudit(f),
	}, nil
}

// watcher is what tells ownership and timeline of the hub.
func (s *stage) watcher() watcher { return watcher{s.hub, s.ownership, s.timeline} }

// populate starts the crew and registers members, and waits until each has an owner.
func (s *stage) populate(ctx context.Context, members []*fleet.Cluster) error {
	if err := s.furnish(ctx); err != nil {
		return err
	}
	if err := s.complete(ctx); err != nil {
		return err
	}
	for _, c := range members {
		if err := s.join(ctx, c); err != nil {
			return err
		}
	}
	err := s.await(ctx, s.timings.giveUp(), "all members have an owner", func() string {
		return names(s.ownership.ownerless())
	})
	if err != nil {
		return err
	}
	return s.calm(ctx)
}

// complete starts replicas until the crew is complete.
func (s *stage) complete(ctx context.Context) error {
	if err := s.restartEnded(ctx); err != nil {
		return err
	}
	for len(s.replicas) < crew {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await looks until nothing is missing any more. The error says what is.
func (s *stage) await(ctx context.Context, limit time.Duration, what string, missing func() string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		left := missing()
		if left == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s, not within %s: %s", what, limit, left)
		case <-ticker.C:
		}
	}
}

// unowned names the members that have no owner, those left aside that have joined just now, and
// counts the shards that have none: members that join are owned with them.
func (s *stage) unowned() string {
	held := 0
	for _, load := range s.ownership.loads() {
		held += load
	}
	if held < shards {
		return fmt.Sprintf("%d of %d shards are held", held, shards)
	}
	return names(slices.DeleteFunc(s.ownership.ownerless(), func(g gap) bool { return g.joined }))
}

// names are the members of gaps.
func names(gaps []gap) string {
	var all []string
	for _, g := range gaps {
		all = append(all, g.member)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// unbalanced says how shards are spread, if not evenly over all replicas.
func (s *stage) unbalanced() string {
	loads := s.ownership.loads()
	least, most := shards, 0
	for _, r := range s.replicas {
		least, most = min(least, loads[r.Identity]), max(most, loads[r.Identity])
	}
	if most-least > 1 {
		return fmt.Sprintf("replicas have %v of %d shards", loads, shards)
	}
	return ""
}

// unmended says which drifts that began before a time are not mended.
func (s *stage) unmended(before time.Time) string {
	var left []string
	for _, d := range s.vandals.since(before) {
		if d.to.IsZero() && d.from.Before(before) {
			left = append(left, d.what+" on "+d.member)
		}
	}
	return strings.Join(left, ", ")
}

// owned waits until all members have an owner.
func (s *stage) owned(ctx context.Context) error {
	return s.await(ctx, s.timings.giveUp(), "all members have an owner", s.unowned)
}

// calm waits until all members have an owner, all replicas run and have their share, and all
// that was changed until now is mended.
func (s *stage) calm(ctx context.Context) error {
	begin := time.Now()
	var failure error
	err := s.await(ctx, s.timings.giveUp(), "all is calm", func() string {
		if failure = s.restartEnded(ctx); failure != nil {
			return ""
		}
		return cmp.Or(s.unowned(), s.unbalanced(), s.unmended(begin))
	})
	return cmp.Or(failure, err)
}
