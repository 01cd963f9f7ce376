// Command demo shows Syncline at work on this machine: a hub and members that are real
// control planes, manager replicas, and the layers of deploy/examples. It tells what
// happens, shows the layered view, explains an object, makes a drift and has it mended.
// Then it goes on until Ctrl-C, so that one can look around; with --once it ends, and its
// exit code says whether everything had converged.
//
// It runs what users run: the programs, CRDs and rights of the documentation, and the
// synclinectl that one would type. It is no test; test/e2e is.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

func main() { os.Exit(run()) }

func run() int {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the demo at once; the kernel then ends what it has started.
	context.AfterFunc(ctx, stop)
	ctx, cancel := withParent(ctx)
	defer cancel()

	if err := tell(ctx, o, newNarrator(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		return 1
	}
	return 0
}

// options are what is asked of the demo.
type options struct {
	once     bool
	members  int
	replicas int
}

func parseOptions(args []string, usage io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet("demo", pflag.ContinueOnError)
	flags.SetOutput(usage)
	flags.BoolVar(&o.once, "once", false, "end when everything has converged and was shown; fail if it has not")
	flags.IntVar(&o.members, "members", 3, "how many members are started, alternately in Europe and in the United States")
	flags.IntVar(&o.replicas, "replicas", 2, "how many replicas of the manager are started")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.members < 1:
		return o, fmt.Errorf("--members=%d: there must be one at least", o.members)
	case o.replicas < 1:
		return o, fmt.Errorf("--replicas=%d: there must be one at least", o.replicas)
	}
	return o, nil
}
