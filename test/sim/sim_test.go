package sim

import (
	"flag"
	"fmt"
	"os"
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
	report(&sum, time.Since(began))
}

// report prints what the schedules have shown, as lines of their own.
func report(sum *summary, took time.Duration) {
	l := &sum.locked
	times := func(name string, of []time.Duration) {
		_, _ = fmt.Fprintf(os.Stdout, "%s: p50 %s, p99 %s, max %s\n", name, quantile(of, 0.5), quantile(of, 0.99), quantile(of, 1))
	}
	_, _ = fmt.Fprintf(os.Stdout, "\nschedules %d\nviolations %d\ntook %s\n", l.schedules, l.violations, took.Round(time.Second))
	times("settled after calm", l.settled)
	times("takeover", l.takeovers)
	times("hand-over", l.handovers)
	_, _ = fmt.Fprintf(os.Stdout, "shards moved by scaling %d, of which had to %d\n", l.moved, l.least)
}
