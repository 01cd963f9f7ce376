package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What a run has to be like at least to prove anything.
const (
	leastRate      = 120 // changes of objects per second
	leastDelay     = 950 * time.Millisecond
	leastSlowShare = 0.25
)

// outcome is what one manager said under load, and what the load was.
type outcome struct {
	verdicts int
	lies     []lie
	rate     float64
	traffic  traffic
}

// report is the outcome of a run.
type report struct {
	checked, unchecked outcome
	faults             []string // data races and panics of managers
}

// String is figures for programs to read.
func (r report) String() string { return r.checked.figures("") + r.unchecked.figures("_without_check") }

func (o outcome) figures(suffix string) string {
	var text strings.Builder
	for _, figure := range []struct {
		name  string
		value float64
		unit  string
	}{
		{"false_verdicts", float64(len(o.lies)), "count"},
		{"verdicts", float64(o.verdicts), "count"},
		{"changes_per_s", o.rate, "1/s"},
		{"watch_delay_p95_ms", float64(o.traffic.watchDelay(0.95).Milliseconds()), "ms"},
		{"slow_status_writes_share", o.traffic.slowShare(), "share"},
	} {
		fmt.Fprintf(&text, "%s%s %.4g %s\n", figure.name, suffix, figure.value, figure.unit)
	}
	return text.String()
}

// writeStories leaves what led to false verdicts in two files.
func (r report) writeStories(dir string) error {
	return errors.Join(
		r.checked.writeStories(filepath.Join(dir, "false-verdicts.txt")),
		r.unchecked.writeStories(filepath.Join(dir, "false-verdicts-without-check.txt")))
}

func (o outcome) writeStories(file string) error {
	var text strings.Builder
	for _, l := range o.lies {
		fmt.Fprintf(&text, "%s\n%s\n", l, l.story)
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

// err names all that is wrong; nil if nothing is.
func (r report) err() error {
	const shown = 10
	var all []error
	for _, l := range r.checked.lies[:min(len(r.checked.lies), shown)] {
		all = append(all, fmt.Errorf("false verdict: %s", l))
	}
	if len(r.unchecked.lies) == 0 {
		all = append(all, errors.New("no verdict was false without the checks: the run proves nothing"))
	}
	for _, line := range r.faults {
		all = append(all, errors.New(line))
	}
	return errors.Join(append(all, r.checked.tooMild())...)
}

// tooMild says why the run proves less than it should.
func (o outcome) tooMild() error {
	var all []error
	if o.verdicts == 0 {
		all = append(all, errors.New("there was no verdict"))
	}
	if o.rate < leastRate {
		all = append(all, fmt.Errorf("objects changed %.0f times a second, fewer than %d", o.rate, leastRate))
	}
	if delay := o.traffic.watchDelay(0.95); delay < leastDelay {
		all = append(all, fmt.Errorf("watches were delayed by %s, less than %s", delay, leastDelay))
	}
	if share := o.traffic.slowShare(); share < leastSlowShare {
		all = append(all, fmt.Errorf("%.2f of status writes were slow, less than %.2f", share, leastSlowShare))
	}
	return errors.Join(all...)
}
