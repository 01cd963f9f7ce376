package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
)

// settings say how much is measured.
type settings struct {
	members   int
	changes   int
	bulks     int
	absences  int
	handovers int
	kills     int
	rotations int
	layers    int
	foreign   int
	rest      time.Duration
	dir       string
	only      []string
	// managerArgs are further flags of the manager.
	managerArgs []string
}

// scenario is one measurement on the fleet. It leaves the members and what is on them as it
// found them, so that any others may run before and after it; those that make very many
// objects leave them there, and come last.
type scenario struct {
	name    string
	figures string
	limit   time.Duration
	measure func(*bench, context.Context) error
}

// aside is a measurement that needs no fleet.
type aside struct {
	name    string
	figures string
	measure func(context.Context) error
}

var asides = []aside{
	{"fold", "fold_us", func(context.Context) error { foldFigures(); return nil }},
	{"assertion", "assertion_us", func(context.Context) error { return assertionFigures() }},
	{"sharing", "lease_writes_per_s_30, _1000, moved_share_10_to_9, _3_to_4", sharing},
}

var scenarios = []scenario{
	{"propagation", "propagation_ratio_p50, _p99", 5 * time.Minute, (*bench).propagation},
	{"bulk", "bulk_ratio_p50", 5 * time.Minute, (*bench).bulk},
	{"drift", "drift_ratio_p50, _p99", 5 * time.Minute, (*bench).drift},
	{"view", "view_ratio_p50, _p99", 5 * time.Minute, (*bench).view},
	{"status", "status_writes_ratio, status_p99_ratio, throughput_drop", 5 * time.Minute, (*bench).status},
	{"hub-writes", "hub_writes_per_change", 3 * time.Minute, (*bench).hubWrites},
	{"rest", "rest_member_writes, rest_hub_writes", 10 * time.Minute, (*bench).atRest},
	{"frozen", "frozen_ratio_p99, frozen_seen_s", 10 * time.Minute, (*bench).frozen},
	{"blackhole", "frozen_blackhole_ratio_p99, _seen_s", 10 * time.Minute, (*bench).blackhole},
	{"ownership", "handover_gap_p99_ms, takeover_p99_s, both _vs_mcr, lease_writes_per_s", 25 * time.Minute, (*bench).ownership},
	{"rotation", "rotation_s, _lists, _heap_growth, _goroutine_growth", 6 * time.Minute, (*bench).rotation},
	{"storage", "hub_bytes_per_pair, hub_objects_per_pair", 5 * time.Minute, (*bench).storage},
	{"memory", "heap_per_pair, heap_per_foreign_object", 10 * time.Minute, (*bench).memory},
	{"restart", "restart_s, restart_applies", 10 * time.Minute, (*bench).restart},
}

func main() {
	s, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 70*time.Minute)
	defer cancel()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	set := flag.NewFlagSet("bench", flag.ExitOnError)
	set.IntVar(&s.members, "members", 8, "number of members")
	set.IntVar(&s.changes, "changes", 40, "single changes, drifts and changes of status, each for Syncline and for the bare loop")
	set.IntVar(&s.bulks, "bulks", 15, "changes of all objects at once")
	set.IntVar(&s.absences, "absences", 3, "times that a member freezes, and times that its packets are dropped")
	set.IntVar(&s.handovers, "handovers", 5, "times that a process is stopped and another started, of Syncline and of multicluster-runtime's coordinator")
	set.IntVar(&s.kills, "kills", 3, "times that a process is killed and another started, of the same two")
	set.IntVar(&s.rotations, "rotations", 300, "rotations of one member's credentials between two looks at memory")
	set.IntVar(&s.layers, "layers", 5, "layers of a hundred objects whose memory is measured; twice as many are restarted with")
	set.IntVar(&s.foreign, "foreign", 20000, "objects on one member that are not Syncline's")
	set.DurationVar(&s.rest, "rest", 2*time.Minute, "how long the fleet is watched at rest")
	set.StringVar(&s.dir, "dir", "", "where logs, audit logs and kubeconfigs stay (default a temporary directory)")
	only := set.String("only", "", "measure some by name, separated by commas:\n"+catalogue())
	if err := set.Parse(args); err != nil {
		return s, err
	}
	s.managerArgs = set.Args()
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	for _, name := range s.only {
		onFleet := slices.ContainsFunc(scenarios, func(sc scenario) bool { return sc.name == name })
		if !onFleet && !slices.ContainsFunc(asides, func(a aside) bool { return a.name == name }) {
			return s, fmt.Errorf("-only: there is no %q; there are\n%s", name, catalogue())
		}
	}
	return s, nil
}

// catalogue lists what can be measured, and which figures that gives.
func catalogue() string {
	var lines []string
	for _, a := range asides {
		lines = append(lines, fmt.Sprintf("  %-12s %s", a.name, a.figures))
	}
	for _, sc := range scenarios {
		lines = append(lines, fmt.Sprintf("  %-12s %s", sc.name, sc.figures))
	}
	return strings.Join(lines, "\n")
}

// wants says whether a measurement is asked for by name, or all are.
func (s settings) wants(name string) bool {
	return len(s.only) == 0 || slices.Contains(s.only, name)
}

// run measures. A scenario that fails does not keep the others from being measured.
func run(ctx context.Context, s settings) (err error) {
	var errs []error
	for _, a := range asides {
		if s.wants(a.name) {
			say(a.name)
			errs = append(errs, a.measure(ctx))
		}
	}
	wanted := slices.DeleteFunc(slices.Clone(scenarios), func(sc scenario) bool { return !s.wants(sc.name) })
	if len(wanted) == 0 {
		return errors.Join(errs...)
	}
	f, err := fleet.Start(ctx, fleet.Config{Members: fleet.Members(s.members), Dir: s.dir, Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	b, err := prepare(ctx, f, s)
	if err != nil {
		return err
	}
	defer b.watches.stop()
	for _, sc := range wanted {
		if err := sc.run(ctx, b); err != nil {
			say("%s failed: %v", sc.name, err)
			errs = append(errs, fmt.Errorf("%s: %w", sc.name, err))
		}
	}
	return errors.Join(errs...)
}

func (sc scenario) run(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithTimeout(ctx, sc.limit)
	defer cancel()
	began := time.Now()
	defer func() { say("%s took %.0f s", sc.name, time.Since(began).Seconds()) }()
	return sc.measure(b, ctx)
}

// say tells the person who waits what is going on.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
