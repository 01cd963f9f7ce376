package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// editInterval is from one edit of a layer to the next edit of another.
	editInterval = 1200 * time.Millisecond
	// Of so many edits one takes an object out of a layer and puts it back as soon as it is gone
	// from a member: watches still show it by then.
	flickerEach = 3
	// goneWithin is how long that is waited for.
	goneWithin = 3 * time.Second
	// driftInterval is from one drift on any member to the next.
	driftInterval = 500 * time.Millisecond
	// beatInterval is from one sign of life that one of a member's workers gives to its next, as
	// long as objects change less often than pace, per second: how often edits reach members is
	// the manager's affair. There are several workers, so that slow answers do not set the pace.
	beatInterval = 100 * time.Millisecond
	workers      = 4
	pace         = leastRate + 10
)

// load edits layers, makes drift and has controllers show signs of life for a time.
func (s *stage) load(ctx context.Context, lasts time.Duration) error {
	begin := time.Now()
	end := begin.Add(lasts)
	loading, ctx := errgroup.WithContext(ctx)
	loading.Go(func() error { return every(ctx, editInterval, end, s.change) })
	loading.Go(func() error { return every(ctx, driftInterval, end, s.each((*member).vandalise, s.members...)) })
	for _, m := range s.members {
		for range workers {
			loading.Go(func() error { return every(ctx, beatInterval, end, s.keepPace(begin, m)) })
		}
	}
	return loading.Wait()
}

// keepPace returns what has a member give a sign of life, if since begin objects have changed
// less often than they should have.
func (s *stage) keepPace(begin time.Time, m *member) func(context.Context) error {
	beat := s.each((*member).beat, m)
	return func(ctx context.Context) error {
		if float64(s.journal.changed()) >= pace*time.Since(begin).Seconds() {
			return nil
		}
		return beat(ctx)
	}
}

// change edits the layers in their turn, and now and then has an object flicker.
func (s *stage) change(ctx context.Context) error {
	if err := s.edit(ctx); err != nil || s.edits%flickerEach != 0 {
		return err
	}
	return s.flicker(ctx)
}

// edit gives one layer new content on all members, each layer in its turn.
func (s *stage) edit(ctx context.Context) error {
	sketch := s.sketches[s.edits%len(s.sketches)]
	s.edits++
	return s.apply(ctx, sketch.layer(fmt.Sprintf("edit %d", s.edits)))
}

// flicker takes a ConfigMap out of the layer that was edited last but two, if there are so many,
// and puts it back. That layer has mostly come to rest, and is not edited again at once.
func (s *stage) flicker(ctx context.Context) error {
	edit := s.edits - min(2, len(s.sketches)-1)
	sketch, content := s.sketches[(edit-1)%len(s.sketches)], fmt.Sprintf("edit %d", edit)
	name := named("ConfigMap", sketch.object(rand.IntN(sketch.each)))
	if err := s.apply(ctx, sketch.layer(lacking(content, name))); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, goneWithin, true, func(context.Context) (bool, error) {
		return s.journal.missing(sketch.name, name), nil
	})
	if err != nil && !wait.Interrupted(err) {
		return err
	}
	return s.apply(ctx, sketch.layer(content))
}

// each returns what does something to one widget of the members after the other, in random
// order, each rarely: what others change again and again is a contest, and another matter.
func (s *stage) each(do func(*member, context.Context, string) error, members ...*member) func(context.Context) error {
	type target struct {
		member *member
		widget string
	}
	var targets []target
	for _, m := range members {
		for _, sketch := range s.sketches {
			for i := range sketch.each {
				targets = append(targets, target{m, sketch.object(i)})
			}
		}
	}
	rand.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	next := 0
	return func(ctx context.Context) error {
		t := targets[next%len(targets)]
		next++
		return do(t.member, ctx, t.widget)
	}
}

// every does something at intervals until a time.
func every(ctx context.Context, interval time.Duration, end time.Time, do func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for time.Now().Before(end) {
		if err := do(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// pause waits for a time, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
