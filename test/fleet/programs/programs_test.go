package programs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadyProgramsAreUsed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range replaceable {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n")
	}
	t.Setenv(AssetsVariable, dir)
	useTemporaryCache(t)

	p, err := Find(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range replaceable {
		if p.Path(name) != filepath.Join(dir, name) || p.Built(name) {
			t.Errorf("%s: %q, built: %t", name, p.Path(name), p.Built(name))
		}
	}
	if p.Path(Cluster) != "" {
		t.Errorf("%q was built for nothing", p.Path(Cluster))
	}
	if p.EnvtestDir() != dir {
		t.Errorf("directory for envtest: %s, want %s", p.EnvtestDir(), dir)
	}
}

// The program that is built here is not Kubernetes, but a module like the real
// one: its version of Kubernetes comes from its go.mod.
func TestProgramIsBuiltOnceForParallelCallers(t *testing.T) {
	source := fakeModule(t)
	useTemporaryCache(t)

	var wg sync.WaitGroup
	dirs, outs, errs := make([]string, 3), make([]bytes.Buffer, 3), make([]error, 3)
	for i := range dirs {
		wg.Go(func() { dirs[i], errs[i] = build(t.Context(), source, &outs[i]) })
	}
	wg.Wait()
	builds := 0
	for i := range dirs {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if dirs[i] != dirs[0] {
			t.Errorf("built in %s and %s", dirs[0], dirs[i])
		}
		builds += strings.Count(outs[i].String(), "building Kubernetes control planes from their Go modules (a first build takes minutes)\n")
	}
	if builds != 1 {
		t.Errorf("built %d times", builds)
	}

	out, err := exec.CommandContext(t.Context(), filepath.Join(dirs[0], Kubectl)).Output()
	if err != nil || !strings.HasSuffix(string(out), "kubectl\n") {
		t.Errorf("the link prints %q, %v", out, err)
	}

	write(t, filepath.Join(source, "more.go"), "package main\n")
	other, err := build(t.Context(), source, nil)
	if err != nil || other == dirs[0] {
		t.Errorf("changed source: built in %s, %v", other, err)
	}
}

func TestFailedBuildSaysWhyAndLeavesNothing(t *testing.T) {
	source := fakeModule(t)
	useTemporaryCache(t)
	write(t, filepath.Join(source, "bad.go"), "package main\n\nvar x int = nonsense\n")
	dir, err := build(t.Context(), source, nil)
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("got %q, %v", dir, err)
	}
	cache, _ := os.UserCacheDir()
	left, err := filepath.Glob(filepath.Join(cache, "syncline", "controlplane", "build-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestHeldLockIsWaitedForAsLongAsTheContextAllows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, newNarrator(nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, path, newNarrator(nil)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: got %v", err)
	}
	unlock()
	unlock, err = lock(t.Context(), path, newNarrator(nil))
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func fakeModule(t *testing.T) string {
	t.Helper()
	source := t.TempDir()
	write(t, filepath.Join(source, "go.mod"), `module example.com/controlplane

go 1.26

require k8s.io/kubernetes v1.2.3

replace k8s.io/kubernetes => ./kubernetes
`)
	write(t, filepath.Join(source, "go.sum"), "")
	write(t, filepath.Join(source, "main.go"), `package main

import "os"

func main() { println0(os.Args[0]) }

func println0(s string) { os.Stdout.WriteString(s + "\n") }
`)
	write(t, filepath.Join(source, "kubernetes", "go.mod"), "module k8s.io/kubernetes\n")
	return source
}

// useTemporaryCache keeps Go's build cache, which is found beside ours otherwise.
func useTemporaryCache(t *testing.T) {
	t.Helper()
	gocache, err := goOutput(t.Context(), ".", "env", "GOCACHE")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", gocache)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
