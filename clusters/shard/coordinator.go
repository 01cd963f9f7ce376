package shard

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// engageBackoff paces attempts to engage a member with controllers that refuse it.
var engageBackoff = wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 10, Cap: 30 * time.Second}

// Coordinator engages members with multicluster-runtime's controllers while this replica owns
// them.
//
// Each stay of a member lives in a goroutine of its own, under the context with which the
// provider engaged it: no member waits for another, and none ends with another. What the
// controllers get is a context below that one, which ends with the tenure. A member that is
// engaged again replaces the one before.
type Coordinator struct {
	replica *Replica

	mu      sync.Mutex
	locked  lockedCoordinator
	running sync.WaitGroup
}

type lockedCoordinator struct {
	aware   []multicluster.Aware
	stays   map[multicluster.ClusterName]*stay
	stopped bool
}

// stay is one stay of a member: the token by which it is removed.
type stay struct {
	name    multicluster.ClusterName
	cluster cluster.Cluster
	shard   int
	cancel  context.CancelFunc
}

var _ mcmanager.Coordinator = &Coordinator{}

// NewCoordinator returns a coordinator for the members that a replica owns.
func NewCoordinator(replica *Replica) *Coordinator {
	return &Coordinator{replica: replica, locked: lockedCoordinator{stays: map[multicluster.ClusterName]*stay{}}}
}

// AddAware implements the interface. Components are engaged in the order of their addition,
// for members that are taken up afterwards.
func (c *Coordinator) AddAware(aware multicluster.Aware) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked.aware = append(c.locked.aware, aware)
}

var errStopped = errors.New("shard: the coordinator has stopped")

// Engage implements the interface. It returns at once: the member is taken up when this
// replica owns it, as often as that happens before ctx is done.
func (c *Coordinator) Engage(ctx context.Context, name multicluster.ClusterName, cl cluster.Cluster) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &stay{name: name, cluster: cl, shard: Of(memberKey(name), c.replica.cfg.Shards), cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locked.stopped {
		cancel()
		return errStopped
	}
	if before := c.locked.stays[name]; before != nil {
		before.cancel()
	}
	c.locked.stays[name] = s
	c.running.Go(func() {
		defer c.remove(s)
		c.run(ctx, s)
	})
	return nil
}

// memberKey is the inverse of member.ClusterName.
func memberKey(name multicluster.ClusterName) types.NamespacedName {
	namespace, member, _ := strings.Cut(name.String(), "/")
	return types.NamespacedName{Namespace: namespace, Name: member}
}

func (c *Coordinator) remove(s *stay) {
	s.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locked.stays[s.name] == s {
		delete(c.locked.stays, s.name)
	}
}

// run takes a member up in each tenure of its shard.
func (c *Coordinator) run(ctx context.Context, s *stay) {
	for ctx.Err() == nil {
		current, changed := c.replica.tenure(s.shard)
		if current != nil && !current.over() {
			c.serve(ctx, s, current)
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// serve keeps a member engaged until the tenure or the stay ends.
func (c *Coordinator) serve(ctx context.Context, s *stay, t *tenure) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	waiting.Go(func() {
		defer cancel()
		select {
		case <-ctx.Done():
		case <-t.ended:
		}
	})
	c.engage(ctx, s)
	<-ctx.Done()
}

// engage has the controllers take a member up. One that refuses is asked again.
func (c *Coordinator) engage(ctx context.Context, s *stay) {
	backoff := engageBackoff
	engaged := 0
	for ctx.Err() == nil {
		aware := c.awareFrom(engaged)
		if len(aware) == 0 {
			return
		}
		err := aware[0].Engage(ctx, s.name, s.cluster)
		if err == nil {
			engaged++
			continue
		}
		if ctx.Err() == nil && backoff.Steps == engageBackoff.Steps {
			logf.FromContext(ctx).Error(err, "A controller does not take up a member", "member", s.name)
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}

func (c *Coordinator) awareFrom(first int) []multicluster.Aware {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.locked.aware[first:]
}

// Runnable implements the interface: it runs the replica, on every replica, leader or not.
func (c *Coordinator) Runnable() manager.Runnable { return everywhere{c} }

type everywhere struct{ *Coordinator }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everywhere) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. When it returns, everything has been handed over and
// every member has been let go of.
func (e everywhere) Start(ctx context.Context) error {
	defer e.running.Wait()
	defer e.letGo()
	return e.replica.Start(ctx)
}

// letGo ends all stays, and lets none begin.
func (c *Coordinator) letGo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked.stopped = true
	for _, s := range c.locked.stays {
		s.cancel()
	}
}
