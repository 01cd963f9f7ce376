package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// settle is the pause between changes, so that one does not disturb the next.
const settle = 700 * time.Millisecond

// atMost are aims that figures should not exceed. What should be 0 and is measured in a process
// that breathes may be a little more.
var atMost = map[string]float64{
	"propagation_ratio_p50": 1.5, "propagation_ratio_p99": 2,
	"bulk_ratio_p50":  1.5,
	"drift_ratio_p50": 1.2, "drift_ratio_p99": 2,
	"hub_writes_per_change": 13,
	"rest_member_writes":    0, "rest_hub_writes": 0,
	"view_ratio_p50": 1.5, "view_ratio_p99": 2,
	"frozen_ratio_p99": 1.1, "frozen_seen_s": 20,
	"frozen_blackhole_ratio_p99": 1.1, "frozen_blackhole_seen_s": 20,
	"handover_gap_p99_ms": 500, "takeover_p99_s": 16,
	"handover_gap_vs_mcr": 0.1, "takeover_vs_mcr": 0.6,
	"hub_writes_at_rest":  0,
	"moved_share_10_to_9": 1, "moved_share_3_to_4": 1,
	"rotation_s": 2, "rotation_lists": 0,
	"rotation_heap_growth": 0.05, "rotation_goroutine_growth": 5,
	"heap_per_pair": 1024, "heap_per_foreign_object": 16,
	"hub_bytes_per_pair": 300, "hub_objects_per_pair": 0.1,
	"restart_applies":  0,
	"status_p99_ratio": 0.25, "throughput_drop": 0.1,
}

// atLeast are aims that figures should reach.
var atLeast = map[string]float64{
	"status_writes_ratio": 10,
}

// figure prints one measured value, and says so if it misses its aim.
func figure(name string, value float64, unit string) {
	_, _ = fmt.Fprintf(os.Stdout, "%s %.4g %s\n", name, value, unit)
	if aim, has := atMost[name]; has && value > aim {
		say("%s misses its aim of at most %g", name, aim)
	}
	if aim, has := atLeast[name]; has && value < aim {
		say("%s misses its aim of at least %g", name, aim)
	}
}

// series are the times of one kind of change, for Syncline and for the bare loop.
type series struct {
	ours, bare []time.Duration
}

// timed does something and tells how long it took.
type timed func() (time.Duration, error)

// both takes the time of a change both ways, in turns the one or the other first.
func (s *series) both(turn int, ours, bare timed) error {
	steps := []func() error{
		func() error { return add(&s.ours, ours) },
		func() error { return add(&s.bare, bare) },
	}
	if turn%2 == 1 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// add takes one time and waits until all is quiet again.
func add(to *[]time.Duration, change timed) error {
	took, err := change()
	if err != nil {
		return err
	}
	*to = append(*to, took)
	time.Sleep(settle)
	return nil
}

// ratios prints how many times as long Syncline takes, at the middle and at the tail, and
// the times behind it.
func (s *series) ratios(name string, tail bool) {
	figure(name+"_ratio_p50", ratio(s.ours, s.bare, 0.5), "ratio")
	if tail {
		figure(name+"_ratio_p99", ratio(s.ours, s.bare, 0.99), "ratio")
	}
	figure(name+"_p50_ms", milliseconds(percentile(s.ours, 0.5)), "ms")
	figure(name+"_bare_p50_ms", milliseconds(percentile(s.bare, 0.5)), "ms")
}

// ratio is how many times as long the times are as the others, at a percentile of each.
func ratio(times, others []time.Duration, p float64) float64 {
	return float64(percentile(times, p)) / float64(percentile(others, p))
}

func percentile(times []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
