package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/syncline-dev/syncline/test/fleet"
)

// run plays the scenarios on a fleet of its own. If that succeeds, what they show is in the
// report, be it good or bad.
func run(ctx context.Context, s settings, timelineFile, progress io.Writer) (r report, err error) {
	t := timeline{begin: time.Now(), out: timelineFile}
	programsAhead := ""
	if slices.ContainsFunc(s.wanted(), func(sc scenario) bool { return sc.name == clockAhead }) {
		if programsAhead, err = buildAhead(ctx, s.dir); err != nil {
			return r, err
		}
	}
	f, err := fleet.Start(ctx, fleet.Config{
		Members: fleet.Members(s.members + s.spare), Dir: s.dir, Progress: progress, AuditBodies: true,
	})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	st, err := newStage(ctx, f, s, t)
	if err != nil {
		return r, err
	}
	st.programsAhead = programsAhead
	all, err := st.play(ctx, progress)
	if err != nil {
		return r, err
	}
	r, err = st.report(all)
	r.took = time.Since(t.begin)
	return r, err
}

// play plays all scenarios while members join and leave, layers change and vandals are about,
// and ends the managers.
func (s *stage) play(ctx context.Context, progress io.Writer) ([]played, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watching, ctx := errgroup.WithContext(ctx)
	watching.Go(func() error { return s.watcher().leases(ctx) })
	watching.Go(func() error { return s.watcher().members(ctx) })
	all, err := s.playWatched(ctx, progress)
	if err == nil {
		sleep(ctx, time.Second) // for what the watches have not seen yet
	}
	cancel()
	return all, errors.Join(err, watching.Wait())
}

func (s *stage) playWatched(ctx context.Context, progress io.Writer) ([]played, error) {
	clusters := s.fleet.Members()
	members, spare := clusters[:s.members], clusters[s.members:]
	if err := s.populate(ctx, members); err != nil {
		return nil, err
	}
	loading, loaded := context.WithCancel(ctx)
	defer loaded()
	load, loading := errgroup.WithContext(loading)
	load.Go(func() error { return s.keepEditing(loading) })
	load.Go(func() error { return s.keepChurning(loading, members, spare) })
	all, err := s.playLoaded(loading, progress)
	loaded()
	err = errors.Join(err, load.Wait())
	s.vandals.leaveAll()
	if err != nil {
		return nil, err
	}
	return all, s.disband()
}

func (s *stage) playLoaded(ctx context.Context, progress io.Writer) ([]played, error) {
	var all []played
	for _, sc := range s.wanted() {
		for n := range s.times(sc) {
			p, err := s.playOne(ctx, sc)
			if err != nil {
				return all, fmt.Errorf("%s, time %d: %w", sc.name, n+1, err)
			}
			_, _ = fmt.Fprintf(progress, "chaos: %s took %.1f s, and calm came after %.1f s\n",
				sc.name, p.over.Sub(p.begin).Seconds(), p.calm.Sub(p.over).Seconds())
			all = append(all, p)
		}
	}
	return all, nil
}

// playOne plays a scenario once. It is an error if calm does not come back.
func (s *stage) playOne(ctx context.Context, sc scenario) (played, error) {
	p := played{scenario: sc, begin: time.Now()}
	s.timeline.note("chaos", "%s begins", sc.name)
	p.err = sc.trouble(s, ctx)
	p.over = time.Now()
	s.timeline.note("chaos", "%s is over, error: %v", sc.name, p.err)
	err := s.complete(ctx)
	if err == nil {
		err = s.calm(ctx)
	}
	p.calm = time.Now()
	s.timeline.note("chaos", "calm, error: %v", err)
	return p, err
}

// disband ends the managers.
func (s *stage) disband() error {
	var errs []error
	for len(s.replicas) > 0 {
		errs = append(errs, s.terminate(s.replicas[0]))
	}
	return errors.Join(errs...)
}

// report judges all that was logged, and notes what is found.
func (s *stage) report(all []played) (report, error) {
	if err := s.audit.update(); err != nil {
		return report{}, err
	}
	r := report{members: s.members, violations: s.audit.judge(s.ownership.tenures), faults: s.product.Faults()}
	r.writes = s.audit.count(func(w write) bool { return true })
	r.hollow = s.audit.count(func(w write) bool { return w.hollow })
	s.noteGaps()
	for _, v := range r.violations {
		s.timeline.note("chaos", "VIOLATION: %s", v.what)
	}
	for _, sc := range s.wanted() {
		r.rows = append(r.rows, s.rowOf(sc.name, all, r.violations))
	}
	for _, what := range r.missed() {
		s.timeline.note("chaos", "MISSED: %s", what)
	}
	return r, nil
}

// noteGaps notes for how long members had no owner, and how long drifts stayed, where that is
// more than a moment.
func (s *stage) noteGaps() {
	const moment = time.Second
	now := time.Now()
	for _, g := range s.ownership.gapsSince(s.timeline.begin, now) {
		if g.lasted() > moment {
			s.timeline.note(g.member, "had no owner for %s since %s", seconds(g.lasted()), clock(g.from))
		}
	}
	for _, d := range s.vandals.since(s.timeline.begin) {
		if d.lasted(now) > moment {
			s.timeline.note(d.member, "somebody %s at %s, and it was mended after %s", d.what, clock(d.from), seconds(d.lasted(now)))
		}
	}
}
