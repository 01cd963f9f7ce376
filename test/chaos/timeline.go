package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// createTimeline makes the file of a timeline in a run's directory, which may not be there yet.
// A failure points to it.
func createTimeline(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, "timeline.txt"))
}

// timeline is what was done and what was seen, in the order of time, one line each. The file
// behind it can be read while it grows; the time of day leads to the lines of other logs.
type timeline struct {
	begin time.Time
	out   io.Writer // takes whole lines from any goroutine, as a file does
}

// note says what somebody did, or what befell it. That it cannot be written is no reason to
// stop.
func (t timeline) note(who, format string, args ...any) {
	now := time.Now()
	_, _ = fmt.Fprintf(t.out, "%8.3f s  %s  %-10s %s\n", now.Sub(t.begin).Seconds(), clock(now), who, fmt.Sprintf(format, args...))
}
