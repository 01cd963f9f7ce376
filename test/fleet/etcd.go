package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

const etcdName = "etcd"

// etcd is the store of all clusters of a fleet but those with OwnEtcd; each has a key prefix
// of its own. It speaks plain HTTP on the loopback address.
type etcd struct {
	process *process
	url     string
}

// etcdPlace is where an etcd runs: its data, the log that its output goes to, and its ports.
type etcdPlace struct {
	data, log    string
	client, peer int
}

// startEtcd starts an empty etcd.
func startEtcd(ctx context.Context, spawn *spawner, path, dir string) (*etcd, error) {
	place := etcdPlace{data: filepath.Join(dir, etcdName), log: filepath.Join(dir, etcdName+".log")}
	if err := os.RemoveAll(filepath.Join(place.data, "member")); err != nil { // what etcd keeps there
		return nil, fmt.Errorf("remove old data: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	for range clashTries {
		if place.client, place.peer, err = etcdPorts(ctx); err != nil {
			break
		}
		var e *etcd
		if e, err = runEtcd(ctx, spawn, path, place); err == nil {
			return e, nil
		}
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("start etcd: %w", err)
}

func etcdPorts(ctx context.Context) (client, peer int, err error) {
	if client, err = handedOut.free(ctx); err == nil {
		peer, err = handedOut.free(ctx)
	}
	return client, peer, err
}

// runEtcd runs an etcd with the data that is in its place.
func runEtcd(ctx context.Context, spawn *spawner, path string, at etcdPlace) (*etcd, error) {
	since := size(at.log)
	client := url("http", at.client)
	p, err := spawn.start(command{path: path, args: etcdFlags(at.data, client, url("http", at.peer)), log: at.log})
	if err != nil {
		return nil, err
	}
	e := &etcd{process: p, url: client}
	err = poll(ctx, "etcd's health", func(ctx context.Context) (bool, error) {
		if err := checkRunning(programs.Etcd, at.log, since, []*process{p}); err != nil {
			return false, err
		}
		return e.healthy(ctx), nil
	})
	if err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return e, nil
}

func (e *etcd) healthy(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/health", nil)
	if err != nil {
		return false
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode == http.StatusOK
}
