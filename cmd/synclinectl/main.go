// Command synclinectl is Syncline's command line for people. It shows what the layers make
// of each member and why, folds layers in files without a cluster, and registers clusters
// that Cluster API did not make. Named kubectl-syncline, it is a plugin of kubectl.
//
// It is a reader: but for register it writes nothing, and it never connects to a member.
// What it says of the layers it computes from the hub's objects by the same functions as
// the manager, so that it can be asked while no manager runs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/utils/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	kubeconfig := newKubeconfigHub()
	root := newRoot(kubeconfig, clock.RealClock{}, os.Args[0])
	kubeconfig.bindFlags(root.PersistentFlags())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}
