package sim

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/clusters/shard"
)

// replica is one process that runs the real shard.Replica and Coordinator, with a controller
// that writes to the members it is given, and one that writes to members without asking
// whose they are.
type replica struct {
	*process
	world   *world
	shard   *shard.Replica
	weight  int
	cancel  context.CancelFunc
	running sync.WaitGroup
	ended   chan struct{}
	err     error // of Start, once ended
}

// start runs a replica. Its end is waited for by world.stop.
func (w *world) start(name, instance string, weight int, skew time.Duration) *replica {
	p := newProcess(name+"_"+instance, w, skew)
	r := &replica{process: p, world: w, weight: weight, ended: make(chan struct{})}
	var err error
	r.shard, err = shard.NewReplica(shard.ReplicaConfig{
		Name: name, Instance: instance, Weight: weight, Shards: w.shards, Reader: p, Writer: p, Clock: p,
	})
	if err != nil {
		panic(err) // the schedule is wrong
	}
	r.shard.OnChange(func(c shard.Change) { w.changed(r, c) })
	ctx, cancel := context.WithCancel(logf.IntoContext(context.Background(), logr.Discard()))
	r.cancel = cancel
	coordinator := shard.NewCoordinator(r.shard)
	coordinator.AddAware(controller{r})
	r.running.Go(func() {
		defer close(r.ended)
		if r.err = coordinator.Runnable().Start(ctx); r.err != nil {
			w.timeline.violate(p.name, "ends with %v", r.err)
		}
	})
	for _, l := range w.members {
		r.shard.AddMember(l.key)
		if err := coordinator.Engage(ctx, multicluster.ClusterName(l.key.String()), nil); err != nil {
			panic(err) // only a coordinator that was stopped refuses
		}
	}
	r.running.Go(func() { r.writeAnywhere(ctx) })
	if skew.Abs() > leaseDuration {
		w.tally.count(skewedClocks)
	}
	w.timeline.note(p.name, "starts with weight %d and a clock that is %s ahead", weight, skew)
	return r
}

// controller writes to members that it is engaged with.
type controller struct{ *replica }

// Engage implements multicluster.Aware.
func (c controller) Engage(ctx context.Context, name multicluster.ClusterName, _ cluster.Cluster) error {
	l := c.world.ledger(name.String())
	l.engaged(c.name, 1)
	c.running.Go(func() {
		defer l.engaged(c.name, -1)
		for first := true; first || c.rest(ctx, 4*time.Second); first = false {
			c.write(ctx, l)
		}
	})
	return nil
}

// writeAnywhere is code that found its way to a member by itself (F17).
func (r *replica) writeAnywhere(ctx context.Context) {
	for r.rest(ctx, 2*time.Second) {
		r.write(ctx, r.world.members[int(r.upTo(time.Duration(len(r.world.members))))])
	}
}

// rest waits for some time, and until the process runs. It reports whether ctx lasts.
func (r *replica) rest(ctx context.Context, longest time.Duration) bool {
	timer := time.NewTimer(longest/8 + r.upTo(longest))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	r.awake.pass()
	return ctx.Err() == nil
}

// write sends a write through a guard like that in a member's transport. Its caller may lose
// patience.
func (r *replica) write(ctx context.Context, l *ledger) {
	ctx = context.WithoutCancel(ctx)
	if r.chance(r.world.hanging) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(r.upTo(10*time.Second), cancel).Stop()
	}
	connection := &connection{replica: r, member: l}
	guard := member.NewGuard(r.shard.Admission(l.key), r.name, connection)
	resp, err := guard.RoundTrip((&http.Request{
		Method: http.MethodPatch, URL: l.url, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
	}).WithContext(ctx))
	switch {
	case err == nil:
		_ = resp.Body.Close() // there is none
	case !connection.used:
		r.world.tally.count(writesRefused)
	case errors.Is(err, context.Canceled):
		r.world.tally.count(writesGivenUp)
	}
}
