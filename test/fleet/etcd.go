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

// etcd is the store of all clusters of a fleet; each has a key prefix of its own.
// It speaks plain HTTP on the loopback address.
type etcd struct {
	process *process
	url     string
}

// startEtcd starts an empty etcd.
func startEtcd(ctx context.Context, spawn *spawner, path, dir string) (*etcd, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	for range clashTries {
		var e *etcd
		if e, err = tryEtcd(ctx, spawn, path, dir); err == nil {
			return e, nil
		}
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("start etcd: %w", err)
}

func tryEtcd(ctx context.Context, spawn *spawner, path, dir string) (*etcd, error) {
	client, err := handedOut.free(ctx)
	if err != nil {
		return nil, err
	}
	peer, err := handedOut.free(ctx)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, etcdName)
	if err := os.RemoveAll(filepath.Join(data, "member")); err != nil { // what etcd keeps there
		return nil, fmt.Errorf("remove old data: %w", err)
	}
	log := filepath.Join(dir, etcdName+".log")
	since := size(log)
	p, err := spawn.start(command{path: path, args: etcdFlags(data, url("http", client), url("http", peer)), log: log})
	if err != nil {
		return nil, err
	}
	e := &etcd{process: p, url: url("http", client)}
	err = poll(ctx, "etcd's health", func(ctx context.Context) (bool, error) {
		if err := checkRunning(programs.Etcd, log, since, []*process{p}); err != nil {
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
