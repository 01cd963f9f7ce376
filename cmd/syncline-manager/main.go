// Command syncline-manager runs Syncline on a hub: one of several replicas, of which one
// leads. It is flags and wiring; what it does is in reconcilers and clusters.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "syncline-manager:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags, err := parseFlags(args, os.Stderr)
	if err != nil {
		return err
	}
	return runManager(signals.SetupSignalHandler(), flags)
}
