package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// progressInterval is how often a line tells that a build still runs.
	progressInterval = 10 * time.Second
	// builtName is the file the built program has in its cache directory; the
	// names of the programs are links to it.
	builtName = "controlplane"
)

// build returns the cache directory that holds the program built from the module
// in source, and a link to it for each name. It builds only if the directory is
// not there.
func build(ctx context.Context, source string, progress io.Writer) (string, error) {
	flags, err := buildFlags(ctx, source)
	if err != nil {
		return "", err
	}
	digest, err := digest(ctx, source, flags)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	dir := filepath.Join(cache, "syncline", "controlplane", digest)
	if exists(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("make cache directory: %w", err)
	}

	say := newNarrator(progress)
	unlock, err := lock(ctx, dir+".lock", say)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(dir) { // built by whoever held the lock
		return dir, nil
	}
	return dir, compile(ctx, source, dir, flags, say)
}

// buildFlags follow how Kubernetes is released, and take its version from the
// module, where it is written once.
func buildFlags(ctx context.Context, source string) ([]string, error) {
	version, err := goOutput(ctx, source, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	return []string{"-trimpath", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + version}, nil
}

// digest covers what decides the built program.
func digest(ctx context.Context, source string, flags []string) (string, error) {
	goVersion, err := goOutput(ctx, source, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return "", fmt.Errorf("list source: %w", err)
	}
	files = append(files, filepath.Join(source, "go.mod"), filepath.Join(source, "go.sum"))
	slices.Sort(files)

	sum := sha256.New()
	sum.Write(fmt.Appendf(nil, "%s\n%q\n", goVersion, flags))
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read source: %w", err)
		}
		sum.Write(fmt.Appendf(nil, "%s %d\n", filepath.Base(file), len(content)))
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// compile builds beside dir and renames, so that dir is complete once it exists.
func compile(ctx context.Context, source, dir string, flags []string, say *narrator) error {
	work, err := os.MkdirTemp(filepath.Dir(dir), "build-*")
	if err != nil {
		return fmt.Errorf("make build directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // nothing is there once it is renamed

	args := append([]string{"build", "-o", filepath.Join(work, builtName)}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	defer say.during("building Kubernetes control planes from their Go modules (a first build takes minutes)")()
	// Output waits for the command; go reports errors on stderr.
	if _, err := cmd.Output(); err != nil {
		return fmt.Errorf("go build in %s: %w", source, withStderr(err))
	}
	for _, name := range append(slices.Clone(replaceable), Cluster) {
		if err := os.Symlink(builtName, filepath.Join(work, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return fmt.Errorf("finish build directory: %w", err)
	}
	if err := os.Rename(work, dir); err != nil {
		return fmt.Errorf("put program into cache: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
