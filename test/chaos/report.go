package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// played is one time that a scenario was played.
type played struct {
	scenario scenario
	// begin is when its trouble began, over when that was over and all members had an owner,
	// calm when the crew was complete and all was as at first.
	begin, over, calm time.Time
	err               error
}

func (p played) contains(t time.Time) bool { return !t.Before(p.begin) && t.Before(p.calm) }

// row is what all times that a scenario was played show together.
type row struct {
	name       string
	times      int
	writes     int // to members
	violations int
	ownerless  []time.Duration // in the trouble, the longest gap of each member that had one
	joined     time.Duration   // the longest time until a new member had its first owner
	unmended   time.Duration   // the longest time that a drift stayed
	missed     []string        // bounds
}

// rowOf sums up what was seen of a scenario.
func (s *stage) rowOf(name string, all []played, violations []violation) row {
	r := row{name: name}
	for _, p := range all {
		if p.scenario.name != name {
			continue
		}
		r.times++
		r.writes += s.audit.count(func(w write) bool { return p.contains(w.received) })
		for _, v := range violations {
			if p.contains(v.at) {
				r.violations++
			}
		}
		if p.err != nil {
			r.miss("%v", p.err)
		}
		r.addGaps(p, s.ownership.gapsSince(p.begin, p.calm), s.timings)
		r.addDrifts(p, s.vandals.since(p.begin), s.timings)
	}
	return r
}

func (r *row) addGaps(p played, gaps []gap, t timings) {
	longest := map[string]time.Duration{}
	for _, g := range gaps {
		bound := p.scenario.bound(t)
		switch {
		case g.from.After(p.calm):
			continue
		case g.joined:
			r.joined = max(r.joined, g.lasted())
			bound = max(bound, t.takeover()) // it may join when nobody leads
		case g.from.Before(p.over):
			longest[g.member] = max(longest[g.member], g.lasted())
		}
		if g.lasted() > bound {
			r.miss("%s had no owner for %s, longer than %s", g.member, seconds(g.lasted()), bound)
		}
	}
	r.ownerless = append(r.ownerless, slices.Collect(maps.Values(longest))...)
}

func (r *row) addDrifts(p played, drifts []drift, t timings) {
	bound := p.scenario.bound(t) + t.slack // an owner may be new, and learn of the member first
	for _, d := range drifts {
		if d.from.After(p.calm) {
			continue
		}
		lasted := d.lasted(p.calm)
		r.unmended = max(r.unmended, lasted)
		if lasted > bound {
			r.miss("%s: somebody %s, and nobody mended it for %s, longer than %s", d.member, d.what, seconds(lasted), bound)
		}
	}
}

func (r *row) miss(format string, args ...any) {
	r.missed = append(r.missed, fmt.Sprintf(format, args...))
}

// report is the outcome of a run.
type report struct {
	rows       []row
	violations []violation
	writes     int      // to members, also those before, between and after scenarios
	hollow     int      // those of them that came without a body, and have done nothing
	faults     []string // data races and panics of managers
	members    int
	took       time.Duration
}

// String is the matrix, and figures for programs to read.
func (r report) String() string {
	var lines, text strings.Builder
	lines.WriteString("scenario\ttimes\twrites\tviolations\townerless p50\tmax\tjoined\tunmended\tbounds missed\t\n")
	for _, row := range r.rows {
		fmt.Fprintf(&lines, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t\n", row.name, row.times, row.writes, row.violations,
			seconds(percentile(row.ownerless, 0.5)), seconds(percentile(row.ownerless, 1)), seconds(row.joined), seconds(row.unmended), len(row.missed))
	}
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = table.Write([]byte(lines.String())) // into memory
	_ = table.Flush()
	for _, figure := range []struct {
		name  string
		value int
	}{
		{"violations", len(r.violations)},
		{"bounds_missed", len(r.missed())},
		{"manager_faults", len(r.faults)},
		{"writes", r.writes},
		{"writes_without_body", r.hollow},
		{"members", r.members},
		{"time_s", int(r.took.Seconds())},
	} {
		fmt.Fprintf(&text, "%s %d\n", figure.name, figure.value)
	}
	return text.String()
}

// missed are the bounds that were missed, with the scenario.
func (r report) missed() []string {
	var all []string
	for _, row := range r.rows {
		for _, what := range row.missed {
			all = append(all, row.name+": "+what)
		}
	}
	return all
}

// err names all that is wrong; nil if nothing is.
func (r report) err() error {
	all := []error{r.unsound()}
	for _, what := range r.missed() {
		all = append(all, fmt.Errorf("bound missed: %s", what))
	}
	return errors.Join(all...)
}

// unsound names what must not be, however slow the machine is.
func (r report) unsound() error {
	var all []error
	for _, v := range r.violations {
		all = append(all, fmt.Errorf("violation: %s", v.what))
	}
	for _, line := range r.faults {
		all = append(all, errors.New(line))
	}
	return errors.Join(all...)
}

// percentile is 0 where there is nothing.
func percentile(times []time.Duration, p float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
