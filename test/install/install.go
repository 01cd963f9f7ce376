package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// Namespace is where the managers are at home.
	Namespace = "syncline-system"
	// User is what the managers are to the hub: the service account that deploy/rbac binds.
	User = "system:serviceaccount:" + Namespace + ":syncline-manager"

	fieldOwner = client.FieldOwner("syncline-install")
)

// Options say what is installed.
type Options struct {
	// Replicas is how many managers are started. None by default.
	Replicas int
	// Race builds the programs with the race detector.
	Race bool
	// Programs is a directory with ready programs, such as another installation's
	// ProgramsDir. By default they are built.
	Programs string
	// Args are given to every manager, after our own.
	Args []string
}

// Installation is Syncline on the hub of a fleet.
type Installation struct {
	// Replicas are the managers, the ended ones included.
	Replicas []*Replica
	fleet    *fleet.Fleet
	options  Options
	bin      string
}

// Replica is one manager.
type Replica struct {
	*fleet.Process
	// Identity is the name by which members and Leases know it.
	Identity string
	health   string
	metrics  string
}

// Install builds the programs, applies deploy/ to the hub and starts the managers. Whoever
// stops the fleet stops them too.
func Install(ctx context.Context, f *fleet.Fleet, options Options) (*Installation, error) {
	in := &Installation{fleet: f, options: options, bin: options.Programs}
	if in.bin == "" {
		in.bin = filepath.Join(f.Dir(), "bin")
		if err := in.build(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.InstallCRDs(ctx, Path("deploy/crds")); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	for _, file := range []string{"deploy/rbac/namespace.yaml", "deploy/rbac/role.yaml"} {
		if err := Apply(ctx, f.Hub(), Path(file)); err != nil {
			return nil, fmt.Errorf("install: %w", err)
		}
	}
	for range options.Replicas {
		if _, err := in.StartReplica(ctx); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Path is a path of the project's tree, from whichever package it is asked for.
func Path(elements ...string) string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	return filepath.Join(append([]string{root}, elements...)...)
}

// Program is the path of a built program: "syncline-manager" or "synclinectl".
func (in *Installation) Program(name string) string { return filepath.Join(in.bin, name) }

// ProgramsDir is the directory of the built programs.
func (in *Installation) ProgramsDir() string { return in.bin }

func (in *Installation) build(ctx context.Context) error {
	args := []string{"build", "-o", in.bin + string(filepath.Separator)}
	if in.options.Race {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/...")...)
	cmd.Dir = Path()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}

// ReplicaOptions say what is special about one manager.
type ReplicaOptions struct {
	// Identity by which members and Leases know it. By default it is one that no other has
	// or had.
	Identity string
	// Hub is how it reaches the hub. By default it does so directly.
	Hub HubAccess
	// Programs is a directory with a manager of its own. The installation's by default.
	Programs string
	// Args are given after those of all managers.
	Args []string
}

// HubAccess is a way to the hub: the hub itself, or a proxy in front of it.
type HubAccess interface {
	KubeconfigFor(user string, groups ...string) ([]byte, error)
}

// StartReplica starts one more manager and waits until it is healthy.
func (in *Installation) StartReplica(ctx context.Context) (*Replica, error) {
	return in.StartReplicaWith(ctx, ReplicaOptions{})
}

// StartReplicaWith is StartReplica for a manager that differs from others.
func (in *Installation) StartReplicaWith(ctx context.Context, o ReplicaOptions) (*Replica, error) {
	if o.Identity == "" {
		o.Identity = fmt.Sprintf("hub-%d", len(in.Replicas))
	}
	if o.Hub == nil {
		o.Hub = in.fleet.Hub()
	}
	if o.Programs == "" {
		o.Programs = in.bin
	}
	kubeconfig, err := in.writeKubeconfig(o)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of manager %s: %w", o.Identity, err)
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{
		"--kubeconfig=" + kubeconfig, "--namespace=" + Namespace, "--identity=" + o.Identity,
		"--metrics-bind-address=" + metrics, "--health-probe-bind-address=" + health,
	}, in.options.Args, o.Args)
	process, err := in.fleet.Run(in.processName(o.Identity), filepath.Join(o.Programs, "syncline-manager"), args...)
	if err != nil {
		return nil, err
	}
	replica := &Replica{Process: process, Identity: o.Identity, health: health, metrics: metrics}
	in.Replicas = append(in.Replicas, replica)
	return replica, replica.awaitHealthy(ctx)
}

// processName is the name of a manager's log.
func (in *Installation) processName(identity string) string {
	name := "manager-" + identity
	for _, before := range in.Replicas {
		if before.Identity == identity {
			return fmt.Sprintf("%s-%d", name, len(in.Replicas))
		}
	}
	return name
}

func (in *Installation) writeKubeconfig(o ReplicaOptions) (path string, err error) {
	path = filepath.Join(in.fleet.Dir(), "manager-"+o.Identity+".kubeconfig")
	content, err := o.Hub.KubeconfigFor(User, "system:serviceaccounts", "system:serviceaccounts:"+Namespace, "system:authenticated")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o600)
}

func (r *Replica) awaitHealthy(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		select {
		case <-r.Done():
			return false, errors.New("it has ended")
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.health+"/readyz", nil)
		if err != nil {
			return false, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, nil // it does not listen yet, and is asked again
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		return fmt.Errorf("manager %s is not healthy: %w\n%s", r.Identity, err, r.LogTail())
	}
	return nil
}

// Metrics are the replica's metrics, as text.
func (r *Replica) Metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.metrics+"/metrics", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("metrics of %s: %w", r.Identity, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// Apply applies every object of a YAML file to a cluster, as kubectl apply --server-side
// would.
func Apply(ctx context.Context, c *fleet.Cluster, file string) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	return ApplyFrom(ctx, c, content)
}

// ApplyFrom is Apply for YAML from anywhere.
func ApplyFrom(ctx context.Context, c *fleet.Cluster, content io.Reader) error {
	cl, err := c.Client(nil)
	if err != nil {
		return err
	}
	documents := yaml.NewYAMLOrJSONDecoder(content, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read objects for %s: %w", c.Name(), err)
		}
		if len(object.Object) == 0 {
			continue
		}
		err = cl.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("apply %s %s to %s: %w", object.GetKind(), object.GetName(), c.Name(), err)
		}
	}
}
