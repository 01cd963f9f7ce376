package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// longest bounds a whole run.
const longest = 40 * time.Minute

func main() {
	s, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := prove(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// prove runs and prints the report. What is wrong is the error.
func prove(ctx context.Context, s settings) error {
	file, err := createTimeline(s.dir)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := run(ctx, s, file, os.Stderr)
	if err == nil {
		_, _ = os.Stdout.WriteString(r.String()) // for who reads along
		err = r.err()
	}
	if err != nil {
		return fmt.Errorf("%w\nsee %s", err, file.Name())
	}
	return nil
}

func parse(args []string) (settings, error) {
	var s settings
	set := flag.NewFlagSet("chaos", flag.ExitOnError)
	set.IntVar(&s.members, "members", 30, "number of members that are registered at any time")
	set.IntVar(&s.spare, "spare", 2, "number of clusters that wait to be registered")
	set.BoolVar(&s.brief, "brief", false, "play only what continuous integration does, once")
	set.BoolVar(&s.race, "race", false, "build the managers with the race detector")
	set.DurationVar(&s.timings.lease, "lease-duration", 15*time.Second, "of the managers")
	set.DurationVar(&s.timings.renew, "renew-deadline", 10*time.Second, "of the managers")
	set.DurationVar(&s.timings.retry, "retry-period", 2*time.Second, "of the managers")
	set.DurationVar(&s.timings.slack, "slack", 5*time.Second, "what bounds allow for beside the managers' timings")
	set.StringVar(&s.dir, "dir", ".chaos", "where the timeline, logs, audit logs and kubeconfigs stay")
	only := set.String("only", "", "play some by name, separated by commas: "+catalogue())
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	s.pace = paceOf(s.members)
	return s, s.validate()
}
