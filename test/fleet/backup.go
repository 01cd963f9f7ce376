package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

// backupName is the directory that Backup copies an etcd's data to.
const backupName = "backup"

var errSharedEtcd = errors.New("the cluster has no etcd of its own: set Member.OwnEtcd")

// Backup puts a copy of the cluster's data aside, in the place of an earlier one. For that
// it stops the cluster and starts it again. It takes a cluster with OwnEtcd.
func (c *Cluster) Backup(ctx context.Context) error {
	return c.replaceData(ctx, c.file(backupName), c.file(etcdName))
}

// RestoreBackup stops the cluster, puts the last Backup in the place of its data and starts
// it again: a server with the same certificates and port, whose objects and versions are
// those of then.
func (c *Cluster) RestoreBackup(ctx context.Context) error {
	return c.replaceData(ctx, c.file(etcdName), c.file(backupName))
}

// replaceData replaces one directory by a copy of another while the cluster is down.
func (c *Cluster) replaceData(ctx context.Context, to, from string) error {
	if !c.member.OwnEtcd {
		return fmt.Errorf("%s: %w", c.name, errSharedEtcd)
	}
	if err := c.Kill(); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("replace data of %s: %w", c.name, err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("replace data of %s: %w", c.name, err)
	}
	return c.start(ctx)
}

// placeForEtcd chooses where the cluster's own etcd is to run, and empties the place; zero
// if it has none.
func (c *Cluster) placeForEtcd(ctx context.Context) (etcdPlace, error) {
	if !c.member.OwnEtcd {
		return etcdPlace{}, nil
	}
	if err := os.RemoveAll(c.file(etcdName)); err != nil {
		return etcdPlace{}, fmt.Errorf("remove old data: %w", err)
	}
	client, peer, err := etcdPorts(ctx)
	return etcdPlace{data: c.file(etcdName), log: c.LogPath(), client: client, peer: peer}, err
}

// launchEtcd runs the cluster's own etcd, if it has one, as the first of its processes.
func (c *Cluster) launchEtcd(ctx context.Context, at etcdPlace) error {
	if at == (etcdPlace{}) {
		return nil
	}
	own, err := runEtcd(ctx, c.fleet.spawner, c.fleet.programs.Path(programs.Etcd), at)
	if err != nil {
		return err
	}
	c.addProcess(own.process)
	return nil
}

func (c *Cluster) etcdURL(s state) string {
	if s.etcd == (etcdPlace{}) {
		return c.fleet.etcd.url
	}
	return url("http", s.etcd.client)
}
