package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

// component is one part of a cluster: the program's name and its arguments.
type component struct {
	program string
	args    []string
}

// create starts the cluster for the first time, on a port of its own.
func (c *Cluster) create(ctx context.Context) error {
	if err := os.MkdirAll(c.dir(), 0o755); err != nil {
		return fmt.Errorf("make directory of %s: %w", c.name, err)
	}
	// By name, not the directory: it lies where the user said.
	for _, old := range []string{c.LogPath(), c.Audit().path} {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("remove an old log of %s: %w", c.name, err)
		}
	}
	id, err := c.newIdentity()
	if err != nil {
		return fmt.Errorf("make keys of %s: %w", c.name, err)
	}
	for range clashTries {
		var port int
		if port, err = handedOut.free(ctx); err != nil {
			break
		}
		var own etcdPlace
		if own, err = c.placeForEtcd(ctx); err != nil {
			break
		}
		c.setState(state{identity: id, port: port, etcd: own})
		if err = c.start(ctx); !errors.Is(err, errPortTaken) {
			break
		}
	}
	return err
}

// Restart starts a cluster that was killed, with the port, data and certificates
// that it had, and returns when it is ready. A cluster that runs is killed first.
func (c *Cluster) Restart(ctx context.Context) error {
	if err := c.Kill(); err != nil {
		return err
	}
	return c.start(ctx)
}

// Recreate puts a new, empty cluster in the place of this one: its name and port
// are the same, its data, CA and keys are new. Whoever knew the old one has to
// learn the new one's certificates; Register does that for the hub.
func (c *Cluster) Recreate(ctx context.Context) error {
	if err := c.Kill(); err != nil {
		return err
	}
	id, err := c.newIdentity()
	if err != nil {
		return fmt.Errorf("make keys of %s: %w", c.name, err)
	}
	s := c.state()
	c.setState(state{identity: id, port: s.port, generation: s.generation + 1, etcd: s.etcd})
	if err := c.start(ctx); err != nil {
		return err
	}
	if c.name == HubName {
		return c.fleet.furnishHub(ctx)
	}
	return nil
}

// start starts the processes and returns when the cluster is of use. If it fails
// nothing runs.
func (c *Cluster) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := c.launch(ctx)
	if err == nil {
		err = c.settle(ctx)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", c.name, errors.Join(err, c.Kill()))
	}
	return nil
}

// launch starts the processes: first the API server, with all parts that can
// share its process or wait for it by themselves, then those that cannot.
func (c *Cluster) launch(ctx context.Context) error {
	s := c.state()
	if err := c.writeKubeconfigs(s); err != nil {
		return err
	}
	first, later, err := c.commands(ctx, s)
	if err != nil {
		return err
	}
	if err := c.launchEtcd(ctx, s.etcd); err != nil {
		return err
	}
	since := size(c.LogPath())
	if err := c.spawn(first); err != nil {
		return err
	}
	if err := c.waitReady(ctx, since); err != nil {
		return err
	}
	return c.spawn(later)
}

// commands groups the cluster's parts into processes. Those of the program built
// from test/controlplane run in one; a program found ready runs by itself, and if
// it is a controller, only once the API server is ready.
func (c *Cluster) commands(ctx context.Context, s state) (first, later []command, err error) {
	var together []string
	for _, part := range c.flags(s) {
		if c.fleet.programs.Built(part.program) {
			if together != nil {
				together = append(together, "--")
			}
			together = append(append(together, part.program), part.args...)
			continue
		}
		cmd := command{path: c.fleet.programs.Path(part.program), args: part.args, log: c.LogPath()}
		switch part.program {
		case programs.APIServer:
			first = append(first, cmd)
			continue
		case programs.Kwok:
			stages, err := c.fleet.programs.KwokStages(ctx)
			if err != nil {
				return nil, nil, err
			}
			if err := c.writeFiles(map[string][]byte{"stages.yaml": stages}); err != nil {
				return nil, nil, err
			}
			cmd.args = append(cmd.args, "--config="+c.file("stages.yaml"))
		}
		later = append(later, cmd)
	}
	if together != nil {
		first = append(first, command{path: c.fleet.programs.Path(programs.Cluster), args: together, log: c.LogPath()})
	}
	return first, later, nil
}

func (c *Cluster) spawn(commands []command) error {
	for _, cmd := range commands {
		p, err := c.fleet.spawner.start(cmd)
		if err != nil {
			return err
		}
		c.addProcess(p)
	}
	return nil
}

// waitReady returns when the API server says that it is ready, or a process has
// ended. The log's part before since is of earlier starts.
func (c *Cluster) waitReady(ctx context.Context, since int64) error {
	config := c.RESTConfig()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer client.CloseIdleConnections()
	client.Timeout = 5 * time.Second
	return poll(ctx, "the API server to be ready", func(ctx context.Context) (bool, error) {
		if err := checkRunning(c.name, c.LogPath(), since, c.processes()); err != nil {
			return false, err
		}
		return ready(ctx, client, config.Host+"/readyz")
	})
}

func ready(ctx context.Context, client *http.Client, url string) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	response, err := client.Do(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("%s: %s", url, response.Status)
	}
	return true, nil
}
