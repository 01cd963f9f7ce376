package sim

import (
	"fmt"
	"testing"
	"time"
)

// shardsOfFigures is the number that the manager has by default.
const shardsOfFigures = 64

// started runs some replicas until they have settled.
func (w *world) started(t *testing.T, replicas int) {
	for i := range replicas {
		w.launch(fmt.Sprint("manager-", i))
	}
	time.Sleep(20 * time.Second)
	w.settled(t)
}

// TestLeaseWrites shows that Leases cost the same with few members and with many.
func TestLeaseWrites(t *testing.T) {
	var rates []float64
	for _, members := range []int{30, 1000} {
		scenario(t, shardsOfFigures, members, func(t *testing.T, w *world) {
			w.started(t, 3)
			before := w.hub.writes()
			time.Sleep(time.Minute)
			rates = append(rates, float64(w.hub.writes()-before)/60)
			say("lease_writes_per_s_%d %.1f writes/s", members, rates[len(rates)-1])
		})
	}
	if d := rates[0] - rates[1]; d < -1 || d > 1 {
		t.Error("they differ")
	}
}

// TestMovedShare shows how many shards move when the number of replicas changes by one,
// compared with how many have to.
func TestMovedShare(t *testing.T) {
	for _, scaling := range []struct{ from, to int }{{10, 9}, {3, 4}} {
		scenario(t, shardsOfFigures, 100, func(t *testing.T, w *world) {
			w.started(t, scaling.from)
			holders, loads := w.holders()
			if scaling.to > scaling.from {
				w.launch("another")
			} else {
				leaver := w.replicas[0]
				leaver.cancel()
				w.lose(leaver)
			}
			time.Sleep(20 * time.Second)
			w.settled(t)
			moved := 0
			now, _ := w.holders()
			for shard := range holders {
				if holders[shard] != now[shard] {
					moved++
				}
			}
			share := float64(moved) / float64(w.leastMoves(loads))
			say("moved_share_%d_to_%d %.4g ratio", scaling.from, scaling.to, share)
			if share != 1 {
				t.Errorf("%d shards moved, %d had to", moved, w.leastMoves(loads))
			}
		})
	}
}
