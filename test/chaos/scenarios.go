package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// scenario is one kind of trouble. It begins with a calm crew; whoever runs it completes the
// crew and waits for calm afterwards.
type scenario struct {
	name  string
	times int // that it is played in a whole run
	brief bool
	// bound is how long a member may have no owner, counted from when its owner could not act
	// any more or gave it back.
	bound   func(timings) time.Duration
	trouble func(*stage, context.Context) error
}

var scenarios = []scenario{
	{"kill", 3, true, timings.takeover, (*stage).killOne},
	{"kill-in-place", 2, false, timings.takeover, (*stage).killInPlace},
	{"kill-all", 1, false, timings.restart, (*stage).killAll},
	{"stop", 2, true, timings.takeover, (*stage).stopOne},
	{"stop-briefly", 2, false, timings.takeover, (*stage).stopBriefly},
	{"cut", 2, false, timings.takeover, (*stage).cutOne},
	{"blackhole", 2, true, timings.takeover, (*stage).blackholeOne},
	{"end", 2, true, timings.handover, (*stage).endOne},
	{"rolling", 1, false, timings.handover, (*stage).roll},
	{"scale", 1, false, timings.handover, (*stage).scale},
	{"two-at-once", 1, false, timings.takeover, (*stage).twoAtOnce},
	{"end-and-kill", 2, false, timings.takeover, (*stage).endAndKill},
	{clockAhead, 1, false, timings.takeover, (*stage).oneAhead},
}

// clockAhead needs a manager that is built for it.
const clockAhead = "clock-ahead"

// any is one of the replicas that run. It owns members, if any replica does.
func (s *stage) any() *replica {
	owners := s.ownership.owners()
	owning := slices.DeleteFunc(slices.Clone(s.replicas), func(r *replica) bool { return owners[r.Identity] == 0 })
	if len(owning) == 0 {
		owning = s.replicas
	}
	return owning[rand.IntN(len(owning))]
}

// named is the replica of a name, which must run.
func (s *stage) named(name string) *replica {
	return s.replicas[slices.IndexFunc(s.replicas, func(r *replica) bool { return r.Identity == name })]
}

// killOne: kill -9. Others have to notice.
func (s *stage) killOne(ctx context.Context) error {
	if err := s.kill(s.any()); err != nil {
		return err
	}
	return s.owned(ctx)
}

// killInPlace: kill -9 of a container, which is started again in the same pod.
func (s *stage) killInPlace(ctx context.Context) error {
	victim := s.any()
	if err := s.kill(victim); err != nil {
		return err
	}
	if err := s.startAs(ctx, victim.Identity, victim.programs); err != nil {
		return err
	}
	return s.owned(ctx)
}

// killAll: nobody is left, and others come.
func (s *stage) killAll(ctx context.Context) error {
	for _, victim := range slices.Clone(s.replicas) {
		if err := s.kill(victim); err != nil {
			return err
		}
	}
	if err := s.complete(ctx); err != nil {
		return err
	}
	return s.owned(ctx)
}

// stopOne: SIGSTOP until others own all members, then SIGCONT. It must not go on with what it
// was at.
func (s *stage) stopOne(ctx context.Context) error {
	return s.during(ctx, s.any(), (*stage).pause, (*stage).resume, s.owned)
}

// stopBriefly: SIGSTOP for longer than ownership lasts, and SIGCONT before anybody else may
// take over.
func (s *stage) stopBriefly(ctx context.Context) error {
	return s.during(ctx, s.any(), (*stage).pause, (*stage).resume, func(ctx context.Context) error {
		sleep(ctx, (s.timings.renew+s.timings.lease)/2)
		return nil
	})
}

// cutOne: the hub refuses one replica, which still reaches the members.
func (s *stage) cutOne(ctx context.Context) error {
	return s.during(ctx, s.any(), (*stage).cut, (*stage).heal, s.owned)
}

// blackholeOne: the hub does not answer one replica, which still reaches the members.
func (s *stage) blackholeOne(ctx context.Context) error {
	return s.during(ctx, s.any(), (*stage).blackhole, (*stage).heal, s.owned)
}

// twoAtOnce: one replica is stopped and another cut off, and the third has to do it all.
func (s *stage) twoAtOnce(ctx context.Context) error {
	return s.during(ctx, s.replicas[0], (*stage).pause, (*stage).resume, func(ctx context.Context) error {
		return s.during(ctx, s.replicas[1], (*stage).blackhole, (*stage).heal, s.owned)
	})
}

// during does something while a replica is in trouble, and gets it out of there in any case.
// At the end all members have an owner again.
func (s *stage) during(ctx context.Context, r *replica, begin, end func(*stage, *replica) error, do func(context.Context) error) error {
	if err := begin(s, r); err != nil {
		return err
	}
	err := do(ctx)
	if ended := end(s, r); err == nil {
		err = ended
	}
	if err != nil {
		return err
	}
	return s.owned(ctx)
}

// endOne: SIGTERM.
func (s *stage) endOne(ctx context.Context) error {
	if err := s.terminate(s.any()); err != nil {
		return err
	}
	return s.owned(ctx)
}

// endAndKill: SIGTERM, and kill -9 before the replica has handed over everything.
func (s *stage) endAndKill(ctx context.Context) error {
	victim := s.any()
	s.timeline.note(victim.Identity, "is told to end")
	if err := victim.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	sleep(ctx, time.Duration(rand.Int64N(int64(s.timings.retry/10))))
	if err := s.kill(victim); err != nil {
		return err
	}
	return s.owned(ctx)
}

// roll replaces all replicas, one after another.
func (s *stage) roll(ctx context.Context) error {
	for _, old := range slices.Clone(s.replicas) {
		if err := s.terminate(old); err != nil {
			return err
		}
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	return s.owned(ctx)
}

// scale goes down to one replica, up again, and down again.
func (s *stage) scale(ctx context.Context) error {
	if err := s.shrink(ctx); err != nil {
		return err
	}
	if err := s.complete(ctx); err != nil {
		return err
	}
	if err := s.calm(ctx); err != nil {
		return err
	}
	return s.shrink(ctx)
}

func (s *stage) shrink(ctx context.Context) error {
	for len(s.replicas) > 1 {
		if err := s.terminate(s.any()); err != nil {
			return err
		}
	}
	return s.calm(ctx)
}

// oneAhead: the clock of one replica is ahead. Neither does it take over too early, when another
// is stopped, nor does it go on for too long when it is stopped itself.
func (s *stage) oneAhead(ctx context.Context) error {
	if err := s.terminate(s.any()); err != nil {
		return err
	}
	name, err := s.startAhead(ctx)
	if err != nil {
		return err
	}
	for _, stopped := range []string{s.replicas[0].Identity, name} {
		if err := s.calm(ctx); err != nil {
			return err
		}
		if err := s.during(ctx, s.named(stopped), (*stage).pause, (*stage).resume, s.owned); err != nil {
			return err
		}
	}
	if err := s.calm(ctx); err != nil {
		return err
	}
	return s.terminate(s.named(name))
}
