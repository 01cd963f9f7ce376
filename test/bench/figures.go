package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// figure prints one measured value.
func figure(name string, value float64, unit string) {
	_, _ = fmt.Fprintf(os.Stdout, "%s %.4g %s\n", name, value, unit)
}

// series are the times of one kind of change, for Syncline and for the bare loop.
type series struct {
	ours, bare []time.Duration
}

// ratios prints how many times as long Syncline takes, at the middle and at the tail, and
// the times behind it.
func (s series) ratios(name string, tail bool) {
	figure(name+"_ratio_p50", ratio(s, 0.5), "ratio")
	if tail {
		figure(name+"_ratio_p99", ratio(s, 0.99), "ratio")
	}
	figure(name+"_p50_ms", milliseconds(percentile(s.ours, 0.5)), "ms")
	figure(name+"_bare_p50_ms", milliseconds(percentile(s.bare, 0.5)), "ms")
}

func ratio(s series, p float64) float64 {
	return float64(percentile(s.ours, p)) / float64(percentile(s.bare, p))
}

func percentile(times []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
