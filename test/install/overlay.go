package install

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildReplaced builds a manager of which some source files are replaced by others, into
// the directory bin-NAME of dir, for ReplicaOptions.Programs. Replaced maps files to those
// that are compiled in their stead; all paths in it are absolute.
func BuildReplaced(ctx context.Context, dir, name string, replaced map[string]string) (programs string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(dir, name+".json")
	if err := os.WriteFile(overlayFile, overlay, 0o644); err != nil {
		return "", err
	}
	programs = filepath.Join(dir, "bin-"+name)
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", overlayFile, "-o", programs+string(filepath.Separator), "./cmd/syncline-manager")
	cmd.Dir = Path()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the manager %q: %w\n%s", name, err, out)
	}
	return programs, nil
}
