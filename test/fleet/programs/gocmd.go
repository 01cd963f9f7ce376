package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

const mainModule = "github.com/syncline-dev/syncline"

// moduleDir returns the directory of a module as the module in dir sees it.
func moduleDir(ctx context.Context, dir, module string) (string, error) {
	out, err := goOutput(ctx, dir, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	if out == "" {
		return "", fmt.Errorf("module %s is not in the module cache; `go mod download %s` fetches it", module, module)
	}
	return out, nil
}

// downloadedDir is moduleDir for a module that may not have been fetched yet.
func downloadedDir(ctx context.Context, dir, module string) (string, error) {
	if _, err := goOutput(ctx, dir, "mod", "download", module); err != nil {
		return "", err
	}
	return moduleDir(ctx, dir, module)
}

func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), withStderr(err))
	}
	return string(bytes.TrimSpace(out)), nil
}

func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}
