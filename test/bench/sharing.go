package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/syncline-dev/syncline/test/install"
)

// sharing measures what sharing members costs with more of them, and more replicas, than fit on
// a machine: in the simulation, whose tests print the figures.
func sharing(ctx context.Context) error {
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^(TestLeaseWrites|TestMovedShare)$", "./test/sim")
	test.Dir = install.Path()
	test.Stderr = os.Stderr
	text, err := test.Output()
	if err != nil {
		return fmt.Errorf("sharing: %w\n%s", err, text)
	}
	for line := range strings.Lines(string(text)) {
		var name, unit string
		var value float64
		if n, _ := fmt.Sscan(line, &name, &value, &unit); n == 3 && strings.ContainsRune(name, '_') {
			figure(name, value, unit)
		}
	}
	return nil
}
