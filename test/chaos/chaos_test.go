package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
	"time"
)

// TestChaos is the short form of what `make chaos` does, with managers that detect races. Bounds of
// time are told, and judged by `make chaos` alone: other tests run beside this one. With
// SYNCLINE_CHAOS_DIR set, timeline, logs and audit logs stay in that directory.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts control planes")
	}
	const limit = 8 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	s := settings{
		members: 4, spare: 1, brief: true, race: true, dir: os.Getenv("SYNCLINE_CHAOS_DIR"),
		timings: timings{
			// The race detector makes all ten times as slow, and other tests run beside this one: shorter
			// Leases than these would expire by themselves all the time.
			lease: 10 * time.Second, renew: 7 * time.Second, retry: time.Second,
			slack: 10 * time.Second,
		},
	}
	s.pace = paceOf(s.members)
	s.pace.churn = 5 * time.Second
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	file, err := createTimeline(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	r, err := run(ctx, s, file, os.Stderr)
	if err == nil {
		t.Logf("\n%s", r)
		err = r.unsound()
	}
	if err != nil {
		t.Errorf("%v\nThe end of %s:\n%s", err, file.Name(), lastLines(file, 400))
	}
	if r.writes == 0 {
		t.Error("nothing was written to members: that proves nothing")
	}
}

// lastLines are the last lines of a file.
func lastLines(file *os.File, n int) []byte {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return []byte(err.Error())
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], nil)
}
