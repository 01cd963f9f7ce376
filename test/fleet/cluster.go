package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is the hub or a member of a fleet. What it is asked for can be read at
// any time and from any goroutine; Kill, Freeze, Thaw, Restart, Recreate, Backup and
// RestoreBackup of one cluster must follow one another.
type Cluster struct {
	fleet  *Fleet
	name   string
	member Member // of the hub, only the name and the service CIDR are set

	mu     sync.Mutex
	locked struct {
		state
		processes []*process // those of the current start; none after Kill
	}
}

// state is what a start of the cluster is made from.
type state struct {
	identity
	port       int
	generation int       // counts Recreate
	etcd       etcdPlace // of the cluster's own; zero without
}

// etcdPrefix differs for each generation: a cluster made anew finds nothing. What
// its predecessor left stays in etcd as long as the fleet.
func (s state) etcdPrefix(name string) string {
	return fmt.Sprintf("/%s-%d", name, s.generation)
}

// Name returns the cluster's name: HubName or the member's.
func (c *Cluster) Name() string { return c.name }

// Member returns what the cluster was started from, with defaults filled in.
func (c *Cluster) Member() Member { return c.member }

// RESTConfig returns a new configuration for an administrator of the cluster,
// without a rate limit on the client's side. Its user is "fleet-admin".
func (c *Cluster) RESTConfig() *rest.Config {
	s := c.state()
	return &rest.Config{
		Host: url("https", s.port),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   s.ca.pem.cert,
			CertData: s.admin.cert,
			KeyData:  s.admin.key,
		},
		QPS: -1,
	}
}

// Client returns a client made from RESTConfig. Without a scheme it knows
// Kubernetes' kinds, CustomResourceDefinitions and Cluster API's Cluster.
func (c *Cluster) Client(scheme *runtime.Scheme) (client.Client, error) {
	if scheme == nil {
		scheme = knownKinds
	}
	cl, err := client.New(c.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make client for %s: %w", c.name, err)
	}
	return cl, nil
}

// Kubeconfig returns the kubeconfig of RESTConfig's user, with certificates and
// key inline.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	s := c.state()
	return c.kubeconfig(s, userAdmin, s.admin)
}

// KubeconfigFor returns a kubeconfig for any user and groups. What the user may
// do is up to the cluster's RBAC.
func (c *Cluster) KubeconfigFor(user string, groups ...string) ([]byte, error) {
	s := c.state()
	pair, err := s.ca.client(user, groups...)
	if err != nil {
		return nil, err
	}
	return c.kubeconfig(s, user, pair)
}

// KubeconfigPath returns the file that holds what Kubeconfig returns.
func (c *Cluster) KubeconfigPath() string {
	return filepath.Join(c.fleet.dir, c.name+".kubeconfig")
}

// LogPath returns the file with the output of all the cluster's processes.
func (c *Cluster) LogPath() string {
	return filepath.Join(c.fleet.dir, c.name+".log")
}

// Audit returns the audit log of the cluster's API server.
func (c *Cluster) Audit() AuditLog {
	return AuditLog{path: c.file("audit.log")}
}

// Kill ends the cluster's processes as a power cut would, and returns when they
// are gone. Its data stays; Restart brings it back.
func (c *Cluster) Kill() error {
	var errs []error
	for _, p := range c.takeProcesses() {
		errs = append(errs, p.kill())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("kill %s: %w", c.name, err)
	}
	return nil
}

// Freeze stops the cluster's processes where they are: connections stay open and
// are even accepted, but nothing is answered until Thaw.
func (c *Cluster) Freeze() error {
	return c.signal(syscall.SIGSTOP)
}

// Thaw lets a frozen cluster go on.
func (c *Cluster) Thaw() error {
	return c.signal(syscall.SIGCONT)
}

func (c *Cluster) signal(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.locked.processes {
		if err := p.signal(sig); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (c *Cluster) state() state {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.locked.state
}

func (c *Cluster) setState(s state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked.state = s
}

func (c *Cluster) addProcess(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked.processes = append(c.locked.processes, p)
}

func (c *Cluster) takeProcesses() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	processes := c.locked.processes
	c.locked.processes = nil
	return processes
}

func (c *Cluster) processes() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*process(nil), c.locked.processes...)
}
