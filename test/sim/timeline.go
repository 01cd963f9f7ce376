package sim

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// timeline is what happened, and the first thing that must not have.
type timeline struct {
	begin time.Time

	mu     sync.Mutex
	locked lockedTimeline
}

type lockedTimeline struct {
	entries   []entry
	violation string
}

type entry struct {
	at     time.Duration
	who    string
	format string
	args   []any
}

// note says what somebody did or what befell it. Arguments are formatted if the run fails.
func (t *timeline) note(who, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.locked.entries = append(t.locked.entries, entry{time.Since(t.begin), who, format, args})
}

// violate says that a law was broken.
func (t *timeline) violate(who, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.locked.violation == "" {
		t.locked.violation = who + ": " + fmt.Sprintf(format, args...)
		t.locked.entries = append(t.locked.entries, entry{time.Since(t.begin), who, "VIOLATION: " + format, args})
	}
}

// violation is the first; empty if there is none.
func (t *timeline) violation() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked.violation
}

// String is one line per entry: time, who, what.
func (t *timeline) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, e := range t.locked.entries {
		fmt.Fprintf(&b, "%10.4fs  %-14s %s\n", e.at.Seconds(), e.who, fmt.Sprintf(e.format, e.args...))
	}
	return b.String()
}
