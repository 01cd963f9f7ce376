package sim

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/syncline-dev/syncline/clusters/shard"
)

// scenario runs a world in good weather, and ends it.
func scenario(t *testing.T, shards, members int, play func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, shards, members)
		play(t, w)
		w.end()
		if v := w.timeline.violation(); v != "" || t.Failed() {
			t.Errorf("%s\n%s", v, w.timeline)
		}
	})
}

func (w *world) launch(name string) *replica {
	r := w.start(name, "i", 1, 0)
	w.replicas = append(w.replicas, r)
	return r
}

// settled checks that everything is as it should be.
func (w *world) settled(t *testing.T) {
	t.Helper()
	if left := w.unsettled(); left != "" {
		t.Errorf("after %s: %s", time.Since(w.timeline.begin), left)
	}
}

func TestAnotherNumberOfShardsDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 4, 4)
		w.launch("a")
		time.Sleep(20 * time.Second)
		w.settled(t)
		w.shards = 8
		other := w.start("b", "i", 1, 0)
		w.shards = 4
		<-other.ended
		if !errors.Is(other.err, shard.ErrShardCount) {
			t.Errorf("ends with %v", other.err)
		}
		time.Sleep(20 * time.Second)
		w.settled(t)
		w.gone = append(w.gone, other)
		w.end()
	})
}

func TestNoRightsOnLeases(t *testing.T) {
	scenario(t, 4, 4, func(t *testing.T, w *world) {
		w.weather.Store(&weather{failing: 2})
		r := w.launch("a")
		time.Sleep(time.Minute)
		if n := w.owned(); n != 0 || r.shard.Ready() == nil {
			t.Errorf("owns %d shards; trouble: %v", n, r.shard.Ready())
		}
		w.weather.Store(&calm)
		time.Sleep(time.Minute)
		if w.settled(t); r.shard.Ready() != nil {
			t.Errorf("trouble: %v", r.shard.Ready())
		}
	})
}

func TestTwoReplicasOfOneName(t *testing.T) {
	scenario(t, 4, 4, func(t *testing.T, w *world) {
		first := w.launch("a")
		time.Sleep(20 * time.Second)
		second := w.start("a", "j", 1, 0)
		time.Sleep(time.Minute)
		w.settled(t)
		first.cancel()
		w.lose(first)
		w.replicas = append(w.replicas, second)
		time.Sleep(20 * time.Second)
		w.settled(t)
	})
}

// F16: the owner is stopped for longer than its Lease, and resumed.
func TestAnOwnerThatWasStoppedWritesNothing(t *testing.T) {
	scenario(t, 4, 40, func(t *testing.T, w *world) {
		stopped := w.start("a", "i", 1, 60*time.Second)
		w.replicas = append(w.replicas, stopped)
		w.launch("b")
		time.Sleep(20 * time.Second)
		w.settled(t)
		stopped.awake.shut()
		time.Sleep(40 * time.Second)
		stopped.awake.open()
		time.Sleep(20 * time.Second)
		w.settled(t)
	})
}

func TestHoldingsAreSeenByAll(t *testing.T) {
	scenario(t, 2, 10, func(t *testing.T, w *world) {
		a, b := w.launch("a"), w.launch("b")
		time.Sleep(20 * time.Second)
		for _, l := range w.members {
			owner := "b"
			own, owned := b.shard.Owns(l.key)
			if !owned {
				owner = "a"
				own, _ = a.shard.Owns(l.key)
			}
			for _, r := range w.replicas {
				if h, seen := r.shard.Holding(l.key); !seen || h.Replica != owner || h.Epoch != own.Epoch {
					t.Errorf("%s sees %+v of %s, which %s owns in epoch %d", r.name, h, l.key, owner, own.Epoch)
				}
			}
		}
	})
}

// TestGaps measures for how long members have no owner, with 64 shards on three replicas.
func TestGaps(t *testing.T) {
	scenario(t, 64, 100, func(t *testing.T, w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.launch(name)
		}
		time.Sleep(20 * time.Second)
		w.settled(t)
		for _, step := range []struct {
			name  string
			do    func(*replica)
			bound time.Duration
		}{
			{"clean stop", func(r *replica) { r.cancel() }, 500 * time.Millisecond},
			{"kill -9", func(r *replica) { r.kill(); w.bury(r); r.cancel() }, takeoverBound},
		} {
			w.takeGaps()
			leaver := w.replicas[0]
			step.do(leaver)
			w.lose(leaver)
			time.Sleep(20 * time.Second)
			w.settled(t)
			gaps, _ := w.takeGaps()
			t.Logf("%s: %d shards without an owner for p50 %s, max %s", step.name, len(gaps), quantile(gaps, 0.5), quantile(gaps, 1))
			if len(gaps) == 0 || slices.Max(gaps) > step.bound {
				t.Errorf("longer than %s", step.bound)
			}
		}
	})
}

// A process that ends hands over before it stops what writes to members.
func TestLeavingEndsWhenAllIsHandedOver(t *testing.T) {
	scenario(t, 4, 4, func(t *testing.T, w *world) {
		first, second := w.launch("a"), w.launch("b")
		time.Sleep(20 * time.Second)
		w.settled(t)
		asked := time.Now()
		first.shard.Leave()
		if took := time.Since(asked); took > 5*time.Second {
			t.Errorf("left after %s", took)
		}
		w.lose(first)
		time.Sleep(5 * time.Second)
		w.settled(t)
		if err := second.shard.Ready(); err != nil {
			t.Errorf("the other is not ready: %v", err)
		}
	})
}
