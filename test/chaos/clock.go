package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/syncline-dev/syncline/test/install"
)

// ahead is by how much a clock can be wrong.
const ahead = 60 * time.Second

// buildAhead builds a manager to whom the time of day is ahead, into a directory of its own.
// Its code is the product's; the package time that it is compiled with adds to what the kernel
// says. The monotonic clock is right, as it is on a machine whose time of day is wrong.
func buildAhead(ctx context.Context, dir string) (programs string, err error) {
	found, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "time").Output()
	if err != nil {
		return "", fmt.Errorf("find package time: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(found)), "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	const reads = "\tsec, nsec, mono := runtimeNow()\n"
	before, after, is := strings.Cut(string(source), "func Now() Time {\n"+reads)
	if !is {
		return "", fmt.Errorf("%s reads the clock in another way than expected", original)
	}
	changed, err := filepath.Abs(filepath.Join(dir, "time-ahead.go"))
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%sfunc Now() Time {\n%s\tsec += %d\n%s", before, reads, int(ahead.Seconds()), after)
	if err := os.WriteFile(changed, []byte(text), 0o644); err != nil {
		return "", err
	}
	return install.BuildReplaced(ctx, dir, "ahead", map[string]string{original: changed})
}
