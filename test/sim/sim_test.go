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
	debug.SetMemoryLimit(2 << 30)
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
	happened                            counts
}

func (s *summary) add(o Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.locked
	l.schedules++
	l.happened.add(o.Happened)
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
	if l := &sum.locked; l.violations == 0 && l.schedules >= enough {
		for i, n := range l.happened {
			if n == 0 && (incident(i) != fullSize || l.schedules >= enoughForFullSize) {
				t.Errorf("in %d schedules there were no %s", l.schedules, incident(i))
			}
		}
	}
}

// So many schedules have all that can happen in them.
const (
	enough            = 100
	enoughForFullSize = 50_000
)

// say prints a line for whoever reads, or looks for its first word.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }

func quantiles(name string, of []time.Duration) {
	say("%s_p50_s %.3f", name, quantile(of, 0.5).Seconds())
	say("%s_p99_s %.3f", name, quantile(of, 0.99).Seconds())
	say("%s_max_s %.3f", name, quantile(of, 1).Seconds())
}

// report prints what the schedules have shown, as lines of their own.
func report(sum *summary, took time.Duration) {
	l := &sum.locked
	say("schedules %d", l.schedules)
	say("violations %d", l.violations)
	say("took_s %.0f", took.Seconds())
	quantiles("settled", l.settled)
	quantiles("takeover", l.takeovers)
	quantiles("handover", l.handovers)
	say("shards_moved_by_scaling %d", l.moved)
	say("shards_that_had_to %d", l.least)
	for i, n := range l.happened {
		say("%s %d", incident(i), n)
	}
}
