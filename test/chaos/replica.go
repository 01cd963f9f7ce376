package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// replica is one manager, with a way to the hub of its own.
type replica struct {
	*install.Replica
	proxy    *fleet.Proxy
	programs string // where its program is; "" for the usual place
}

// start starts a replica under a name that none has had.
func (s *stage) start(ctx context.Context) error {
	return s.startAs(ctx, s.newName(), "")
}

// startAhead starts a replica whose clock is ahead.
func (s *stage) startAhead(ctx context.Context) (name string, err error) {
	name = s.newName()
	s.timeline.note(name, "has a clock that is %s ahead", ahead)
	s.ownership.isAhead(name)
	return name, s.startAs(ctx, name, s.programsAhead)
}

func (s *stage) newName() string {
	s.started++
	return fmt.Sprintf("manager-%d", s.started)
}

// startAs starts a replica under a name that none has, from a directory of programs or the
// usual one, and returns when it is healthy.
func (s *stage) startAs(ctx context.Context, name, programs string) error {
	proxy, err := s.fleet.Hub().StartProxy()
	if err != nil {
		return err
	}
	s.timeline.note(name, "is started")
	s.ownership.starts(name)
	started, err := s.product.StartReplicaWith(ctx, install.ReplicaOptions{Identity: name, Hub: proxy, Programs: programs})
	if started != nil {
		s.replicas = append(s.replicas, &replica{started, proxy, programs})
	}
	return err
}

// kill is kill -9.
func (s *stage) kill(r *replica) error {
	s.timeline.note(r.Identity, "is killed")
	s.ownership.fails(time.Now(), r.Identity)
	return s.bury(r, r.Kill())
}

// terminate is SIGTERM. The replica has to end by itself.
func (s *stage) terminate(r *replica) error {
	s.timeline.note(r.Identity, "is told to end")
	err := s.bury(r, r.Terminate(s.timings.lease+endLimit))
	s.timeline.note(r.Identity, "has ended: %v", err)
	return err
}

// pause stops the process as it stands.
func (s *stage) pause(r *replica) error {
	s.timeline.note(r.Identity, "is stopped")
	s.ownership.fails(time.Now(), r.Identity)
	return r.Signal(syscall.SIGSTOP)
}

func (s *stage) resume(r *replica) error {
	s.timeline.note(r.Identity, "goes on")
	s.ownership.recovers(time.Now(), r.Identity)
	return r.Signal(syscall.SIGCONT)
}

// cut ends the replica's connections to the hub and refuses new ones.
func (s *stage) cut(r *replica) error {
	s.timeline.note(r.Identity, "is cut off from the hub")
	s.ownership.fails(time.Now(), r.Identity)
	return r.proxy.Cut()
}

// blackhole loses what the replica and the hub say to each other.
func (s *stage) blackhole(r *replica) error {
	s.timeline.note(r.Identity, "is cut off from the hub without a word")
	s.ownership.fails(time.Now(), r.Identity)
	return r.proxy.Blackhole()
}

func (s *stage) heal(r *replica) error {
	s.timeline.note(r.Identity, "reaches the hub again")
	s.ownership.recovers(time.Now(), r.Identity)
	return r.proxy.Heal()
}

// restartEnded does what a kubelet does: a replica that has ended by itself is started again
// under its name. A leader that was cut off ends so; it is an error for all others.
func (s *stage) restartEnded(ctx context.Context) error {
	for _, r := range slices.Clone(s.replicas) {
		select {
		case <-r.Done():
		default:
			continue
		}
		if tail := r.LogTail(); !strings.Contains(tail, "leader election lost") {
			return fmt.Errorf("%s has ended by itself:\n%s", r.Identity, tail)
		}
		s.timeline.note(r.Identity, "has ended, since it lost the leadership")
		s.ownership.fails(time.Now(), r.Identity)
		if err := s.bury(r, nil); err != nil {
			return err
		}
		if err := s.startAs(ctx, r.Identity, r.programs); err != nil {
			return err
		}
	}
	return nil
}

// bury takes a replica that has ended off the stage.
func (s *stage) bury(r *replica, err error) error {
	s.replicas = slices.DeleteFunc(s.replicas, func(other *replica) bool { return other == r })
	if closing := r.proxy.Close(); err == nil {
		err = closing
	}
	return err
}
