package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// settings say how much is measured.
type settings struct {
	members int
	changes int
	bulks   int
	rest    time.Duration
	dir     string
	// managerArgs are further flags of the manager, such as --pprof-bind-address.
	managerArgs []string
}

func main() {
	var s settings
	flag.IntVar(&s.members, "members", 8, "number of members")
	flag.IntVar(&s.changes, "changes", 40, "single changes and drifts, each for Syncline and for the bare loop")
	flag.IntVar(&s.bulks, "bulks", 15, "changes of all objects at once")
	flag.DurationVar(&s.rest, "rest", 2*time.Minute, "how long the fleet is watched at rest")
	flag.StringVar(&s.dir, "dir", "", "where logs, audit logs and kubeconfigs stay (default a temporary directory)")
	flag.Parse()
	s.managerArgs = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) (err error) {
	say("fold")
	foldFigures()
	members := fleet.Members(s.members)
	f, err := fleet.Start(ctx, fleet.Config{Members: members, Dir: s.dir, Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	if _, err := install.Install(ctx, f, install.Options{Replicas: 1, Args: s.managerArgs}); err != nil {
		return err
	}
	b, err := prepare(ctx, f)
	if err != nil {
		return err
	}
	defer b.watches.stop()
	for _, measure := range []func(context.Context, settings) error{b.propagation, b.bulk, b.drift, b.hubWrites, b.atRest} {
		if err := measure(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// say tells the person who waits what is going on.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
