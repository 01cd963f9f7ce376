package main

import (
	"context"
	"encoding/json"
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
	changed := filepath.Join(dir, "time-ahead.go")
	text := fmt.Sprintf("%sfunc Now() Time {\n%s\tsec += %d\n%s", before, reads, int(ahead.Seconds()), after)
	if err := os.WriteFile(changed, []byte(text), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(dir, "time-ahead.json")
	if err := os.WriteFile(overlayFile, overlay, 0o644); err != nil {
		return "", err
	}
	programs = filepath.Join(dir, "bin-ahead")
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", overlayFile, "-o", programs+string(filepath.Separator), "./cmd/syncline-manager")
	cmd.Dir = install.Path()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build a manager whose clock is ahead: %w\n%s", err, out)
	}
	return programs, nil
}
