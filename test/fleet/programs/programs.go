package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Names of the programs. Cluster runs APIServer, ControllerManager, Scheduler and
// Kwok, or some of them, in one process; see the documentation of test/controlplane.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Kubectl           = "kubectl"
	Cluster           = "cluster"
)

// AssetsVariable names a directory with ready programs. The variable and the
// names in the directory are those of controller-runtime's envtest.
const AssetsVariable = "KUBEBUILDER_ASSETS"

var replaceable = []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok, Kubectl}

// Programs says where each program is.
type Programs struct {
	paths map[string]string
	main  string // directory of the module this repository's tests are part of
}

// Find returns all programs, building what is missing. It must be called within
// the module github.com/syncline-dev/syncline, as `go test` and `go run` do.
// Progress, if not nil, gets a line every ten seconds while something is built or
// waited for.
func Find(ctx context.Context, progress io.Writer) (*Programs, error) {
	main, err := moduleDir(ctx, ".", mainModule)
	if err != nil {
		return nil, err
	}
	p := &Programs{paths: found(os.Getenv(AssetsVariable)), main: main}
	if _, ok := p.paths[Cluster]; ok || p.complete() {
		return p, nil
	}
	built, err := build(ctx, filepath.Join(main, "test", "controlplane"), progress)
	if err != nil {
		return nil, fmt.Errorf("build control plane programs: %w", err)
	}
	for _, name := range append(slices.Clone(replaceable), Cluster) {
		if _, ok := p.paths[name]; !ok {
			p.paths[name] = filepath.Join(built, name)
		}
	}
	return p, nil
}

// Path returns the file of the program called name, or "" for Cluster if every
// other program was found ready.
func (p *Programs) Path(name string) string {
	return p.paths[name]
}

// Built tells whether the program called name is part of the one built from
// test/controlplane, so that it can run within Cluster.
func (p *Programs) Built(name string) bool {
	cluster, err := filepath.EvalSymlinks(p.paths[Cluster])
	if err != nil {
		return false
	}
	path, err := filepath.EvalSymlinks(p.paths[name])
	return err == nil && path == cluster
}

// EnvtestDir returns a directory that KUBEBUILDER_ASSETS can name for envtest. It
// is the variable's own value if that was set.
func (p *Programs) EnvtestDir() string {
	return filepath.Dir(p.paths[APIServer])
}

// ModuleDir returns the directory of a module that the main module depends on.
func (p *Programs) ModuleDir(ctx context.Context, module string) (string, error) {
	return moduleDir(ctx, p.main, module)
}

func (p *Programs) complete() bool {
	return !slices.ContainsFunc(replaceable, func(name string) bool { return p.paths[name] == "" })
}

// found returns the programs in dir. A directory that this package has built
// holds Cluster too.
func found(dir string) map[string]string {
	paths := map[string]string{}
	if dir == "" {
		return paths
	}
	for _, name := range append(slices.Clone(replaceable), Cluster) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths[name] = path
		}
	}
	return paths
}
