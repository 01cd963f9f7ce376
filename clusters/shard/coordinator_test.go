package shard

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/syncline-dev/syncline/clusters/member"
)

// awareFunc is a controller.
type awareFunc func(ctx context.Context, name multicluster.ClusterName) error

func (f awareFunc) Engage(ctx context.Context, name multicluster.ClusterName, _ cluster.Cluster) error {
	return f(ctx, name)
}

// engagements are the contexts that a controller was given, by member, in order.
type engagements struct {
	mu     sync.Mutex
	locked map[multicluster.ClusterName][]context.Context
}

func (e *engagements) Engage(ctx context.Context, name multicluster.ClusterName, _ cluster.Cluster) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.locked[name] = append(e.locked[name], ctx)
	return nil
}

// live checks how often a member was engaged, and whether it is now.
func (e *engagements) live(t *testing.T, name multicluster.ClusterName, times int, now bool) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.locked[name]
	for i, ctx := range all {
		if want := now && i == len(all)-1; (ctx.Err() == nil) != want {
			t.Errorf("engagement %d of %s: live is %v, want %v", i, name, !want, want)
		}
	}
	if len(all) != times {
		t.Errorf("%s was engaged %d times, want %d", name, len(all), times)
	}
}

// office is a coordinator whose replica's tenures a test begins and ends.
type office struct {
	*Coordinator
	loop *loop
	seen *engagements
}

func newOffice(t *testing.T) *office {
	replica, err := NewReplica(ReplicaConfig{
		Name: "a", Reader: struct{ LeaseReader }{}, Writer: struct{ LeaseWriter }{}, Shards: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &office{
		Coordinator: NewCoordinator(replica),
		loop:        &loop{Replica: replica, machine: newMachine(replica.cfg), log: logr.Discard()},
		seen:        &engagements{locked: map[multicluster.ClusterName][]context.Context{}},
	}
	o.AddAware(o.seen)
	return o
}

func (o *office) own(epoch int) {
	now := time.Now()
	o.loop.carryOut(now, order{verb: openTenure, epoch: epoch, until: now.Add(10 * time.Second), reason: ReasonAssigned})
}

func (o *office) disown() {
	o.loop.carryOut(time.Now(), order{verb: closeTenure, reason: ReasonHandedOver})
}

func (o *office) engage(t *testing.T, name multicluster.ClusterName) context.CancelFunc {
	ctx, cancel := context.WithCancel(t.Context())
	if err := o.Engage(ctx, name, nil); err != nil {
		t.Fatal(err)
	}
	return cancel
}

func TestAMemberIsEngagedWhileItIsOwned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		defer o.engage(t, "fleet/eu")()
		o.seen.live(t, "fleet/eu", 0, false)
		o.own(1)
		o.seen.live(t, "fleet/eu", 1, true)
		o.disown()
		o.seen.live(t, "fleet/eu", 1, false)
		o.own(2)
		o.seen.live(t, "fleet/eu", 2, true)
	})
}

func TestAMemberThatLeavesLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		defer o.engage(t, "fleet/eu")()
		leave := o.engage(t, "fleet/us") // the last one that was engaged
		o.own(1)
		o.seen.live(t, "fleet/us", 1, true)
		leave()
		o.seen.live(t, "fleet/us", 1, false)
		o.seen.live(t, "fleet/eu", 1, true)
	})
}

func TestAMemberThatIsReplacedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.own(1)
		leave := o.engage(t, "fleet/eu")
		o.seen.live(t, "fleet/eu", 1, true)
		defer o.engage(t, "fleet/eu")()
		o.seen.live(t, "fleet/eu", 2, true)
		leave() // the end of the one before
		o.seen.live(t, "fleet/eu", 2, true)
	})
}

func TestNoMemberWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		refusals := 0
		o.AddAware(awareFunc(func(ctx context.Context, name multicluster.ClusterName) error {
			switch name {
			case "fleet/hangs":
				<-ctx.Done()
				return ctx.Err()
			case "fleet/refused":
				if refusals++; refusals < 3 {
					return errors.New("not now")
				}
			}
			return nil
		}))
		after := &engagements{locked: map[multicluster.ClusterName][]context.Context{}}
		o.AddAware(after)
		o.own(1)
		for _, name := range []multicluster.ClusterName{"fleet/hangs", "fleet/refused", "fleet/eu"} {
			defer o.engage(t, name)()
		}
		after.live(t, "fleet/eu", 1, true)
		after.live(t, "fleet/refused", 0, false)
		time.Sleep(time.Minute)
		after.live(t, "fleet/refused", 1, true)
		o.seen.live(t, "fleet/refused", 1, true) // who had accepted is not asked again
		after.live(t, "fleet/hangs", 0, false)
	})
}

func TestTheCoordinatorRunsOnEveryReplica(t *testing.T) {
	elected, ok := newOffice(t).Runnable().(manager.LeaderElectionRunnable)
	if !ok || elected.NeedLeaderElection() {
		t.Error("runs on the leader alone")
	}
}

// F17: who came to a member by itself asks the same admission as all others.
func TestAdmissionFollowsTheTenure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		admission := o.replica.Admission(types.NamespacedName{Namespace: "fleet", Name: "eu"})
		refused := func() {
			t.Helper()
			if _, _, err := admission.Begin(t.Context()); !errors.Is(err, member.ErrNotOwner) {
				t.Errorf("Begin: %v", err)
			}
		}
		refused()
		o.own(7)
		ctx, done, err := admission.Begin(t.Context())
		if epoch, _ := member.EpochOf(ctx); err != nil || epoch != 7 {
			t.Fatalf("epoch %d, %v", epoch, err)
		}
		if _, _, err := admission.Begin(member.WithEpoch(t.Context(), 6)); !errors.Is(err, member.ErrNotOwner) {
			t.Errorf("what was decided in epoch 6 is done in epoch 7: %v", err)
		}
		if _, done, err := admission.Begin(member.WithEpoch(t.Context(), 7)); err != nil {
			t.Errorf("what was decided in this epoch is refused: %v", err)
		} else {
			done(true)
		}
		time.Sleep(10*time.Second - time.Nanosecond)
		if ctx.Err() != nil {
			t.Error("the write ended early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if cause := context.Cause(ctx); !errors.Is(cause, member.ErrNotOwner) {
			t.Errorf("the write ends with %v", cause)
		}
		refused()
		done(false)
	})
}

func TestATenureIsDrainedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.loop.machine.shards[0].held, o.loop.machine.shards[0].writing = 3, true
		writing := func() bool {
			for _, tell := range o.loop.inbox.take() {
				tell(o.loop.machine, time.Now())
			}
			return o.loop.machine.shards[0].writing
		}
		o.own(3)
		current, _ := o.replica.tenure(0)
		ctx, first, _ := current.begin(t.Context())
		_, second, _ := current.begin(t.Context())
		first(true)
		o.disown()
		if !writing() || ctx.Err() == nil {
			t.Error("drained while a write is under way")
		}
		second(false)
		if writing() {
			t.Error("not drained")
		}
		if at := o.loop.machine.shards[0].quietAt; !at.Equal(time.Now().Add(15 * time.Second)) {
			t.Errorf("a write without an answer may arrive until %s", at)
		}
	})
}
