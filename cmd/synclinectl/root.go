package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
)

// newRoot is the command line. Program is the path by which it was called; flags that say
// where the hub is are the hub's to bind.
func newRoot(hub hub, now clock.PassiveClock, program string) *cobra.Command {
	root := &cobra.Command{
		Use:   "synclinectl",
		Short: "Look at the layers that Syncline keeps on many clusters",
		// Whoever calls the command reports the error; usage would bury it.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl syncline"}
	}
	root.AddCommand(
		newStatus(hub, now),
		newExplain(hub),
		newFold(),
		newApprove(hub),
		newRollback(hub),
		newRegister(hub),
		newVersion(),
	)
	return root
}
