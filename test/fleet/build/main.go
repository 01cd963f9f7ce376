// Command build builds the control plane programs that fleets are made of, unless
// they are cached or KUBEBUILDER_ASSETS brings them, and prints the directory that
// KUBEBUILDER_ASSETS can name for envtest. Run before `go test` it shows its
// progress, which takes minutes at first, and keeps it out of the tests' timeout.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	found, err := programs.Find(ctx, os.Stderr)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, found.EnvtestDir())
	return err
}
