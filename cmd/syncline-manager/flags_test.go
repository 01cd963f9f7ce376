package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/syncline-dev/syncline/clusters/shard"
)

func TestFlagsOfOwnership(t *testing.T) {
	f, err := parseFlags([]string{"--namespace=syncline-system"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := shard.Timings{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}
	if f.timings != want || f.shards != 64 || f.weight != 1 {
		t.Errorf("defaults: %+v, %d shards, weight %d", f.timings, f.shards, f.weight)
	}
	for flag, says := range map[string]string{
		"--lease-duration=1s":    "between 3s and 5m0s",
		"--lease-duration=1h":    "between 3s and 5m0s",
		"--renew-deadline=14s":   "leave a fifth of --lease-duration 15s",
		"--retry-period=1ms":     "at least 100ms",
		"--retry-period=6s":      "half of --renew-deadline 10s",
		"--shards=0":             "between 1 and 1024",
		"--shards=2000":          "between 1 and 1024",
		"--weight=0":             "between 1 and 1000",
		"--weight=1000000":       "between 1 and 1000",
		"--member-concurrency=0": "between 1 and 1000",
	} {
		_, err := parseFlags([]string{"--namespace=syncline-system", flag}, io.Discard)
		if name, _, _ := strings.Cut(flag, "="); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want an error that names the flag and says %q", flag, err, says)
		}
	}
}
