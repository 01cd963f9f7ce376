package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/syncline-dev/syncline/test/fleet"
)

// join registers a member on the hub, and lets a vandal loose on it.
func (s *stage) join(ctx context.Context, c *fleet.Cluster) error {
	if err := s.awaitUnknown(ctx, c); err != nil {
		return err
	}
	s.timeline.note(c.Name(), "joins")
	s.ownership.joins(time.Now(), c.Name())
	if err := s.fleet.Register(ctx, c); err != nil {
		return err
	}
	return s.vandals.visit(ctx, c)
}

// leave takes a member off the hub. Its control plane goes on.
func (s *stage) leave(ctx context.Context, c *fleet.Cluster) error {
	s.timeline.note(c.Name(), "leaves")
	s.vandals.leave(c.Name())
	s.ownership.leaves(c.Name())
	return s.fleet.Unregister(ctx, c)
}

// awaitUnknown waits until nothing on the hub is left of a member that has left.
func (s *stage) awaitUnknown(ctx context.Context, c *fleet.Cluster) error {
	resource := s.hub.Resource(memberClusters).Namespace(namespace)
	err := wait.PollUntilContextTimeout(ctx, pollInterval, leaveLimit, true, func(ctx context.Context) (bool, error) {
		_, err := resource.Get(ctx, c.Name(), metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return fmt.Errorf("%s has left, and its MemberCluster is still there: %w", c.Name(), err)
	}
	return nil
}

// leaveLimit bounds how long a MemberCluster outlives its registration. Nobody removes it
// while no manager leads.
const leaveLimit = 2 * time.Minute

// keepChurning lets one member join and another leave, again and again, until ctx is done.
// The spare ones are not registered at first.
func (s *stage) keepChurning(ctx context.Context, members, spare []*fleet.Cluster) error {
	ticker := time.NewTicker(s.pace.churn)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		i := rand.IntN(len(members))
		joining, leaving := spare[0], members[i]
		members[i], spare = joining, append(spare[1:], leaving)
		err := s.join(ctx, joining)
		if err == nil {
			err = s.leave(ctx, leaving)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
