package sim

import (
	"flag"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

var (
	schedules = flag.Int("schedules", 150, "how many schedules to run")
	firstSeed = flag.Uint64("seed", 0, "run the schedule of this seed alone, if it is not 0")
	most      = flag.Int64("violations", 1, "stop after so many violations")
	workers   = flag.Int("workers", 2, "how many schedules to run at a time")
)

func TestMain(m *testing.M) {
	flag.Parse()
	logf.SetLogger(logr.Discard())
	debug.SetGCPercent(-1) // schedules are many and small: there is little to keep
	debug.SetMemoryLimit(512 << 20)
	goleak.VerifyTestMain(m)
}

// one runs one schedule in a bubble of its own.
func one(t *testing.T, seed uint64, timeline bool) (out Outcome) {
	synctest.Test(t, func(*testing.T) { out = Run(seed, timeline) })
	return out
}

// summary adds outcomes up.
type summary struct {
	mu     sync.Mutex
	locked lockedSummary
}

type lockedSummary struct {
	schedules, violations, moved, least int
	settled, takeovers, handovers       []time.Duration
}

func (s *summary) add(o Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.locked
	l.schedules++
	l.moved += o.Moved
	l.least += o.Least
	l.settled = append(l.settled, o.Settled)
	l.takeovers = append(l.takeovers, o.Takeovers...)
	l.handovers = append(l.handovers, o.Handovers...)
	if o.Violation != "" {
		l.violations++
	}
}

func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[int(q*float64(len(of)-1))].Round(time.Millisecond)
}

func TestSchedules(t *testing.T) {
	if *firstSeed != 0 {
		out := one(t, *firstSeed, testing.Verbose())
		if t.Log("\n" + out.Timeline); out.Violation != "" {
			t.Errorf("seed %d: %s", out.Seed, out.Violation)
		}
		return
	}
	var sum summary
	var next atomic.Uint64
	var found atomic.Int64
	began := time.Now()
	t.Run("schedules", func(t *testing.T) {
		for range *workers {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1); seed <= uint64(*schedules) && found.Load() < *most; seed = next.Add(1) {
					out := one(t, seed, false)
					if sum.add(out); out.Violation != "" {
						found.Add(1)
						t.Errorf("seed %d: %s\n%s", out.Seed, out.Violation, out.Timeline)
					}
				}
			})
		}
	})
	report(t, &sum, time.Since(began))
}

func report(t *testing.T, sum *summary, took time.Duration) {
	l := &sum.locked
	t.Logf("schedules %d, violations %d, took %s", l.schedules, l.violations, took.Round(time.Second))
	t.Logf("settled after calm: p50 %s, p99 %s, max %s", quantile(l.settled, 0.5), quantile(l.settled, 0.99), quantile(l.settled, 1))
	t.Logf("takeover: p50 %s, p99 %s, max %s", quantile(l.takeovers, 0.5), quantile(l.takeovers, 0.99), quantile(l.takeovers, 1))
	t.Logf("hand-over: p50 %s, p99 %s, max %s", quantile(l.handovers, 0.5), quantile(l.handovers, 0.99), quantile(l.handovers, 1))
	t.Logf("moved by scaling %d shards, had to %d", l.moved, l.least)
}
