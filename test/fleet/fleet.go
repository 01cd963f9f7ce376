package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

// parallelStarts is how many clusters start at a time. More take longer: a start
// is bound by CPU.
const parallelStarts = 3

// Fleet is a running hub with its members. Its methods may be called from any
// goroutine; none but Stop may be called once Stop was.
type Fleet struct {
	cfg       Config
	dir       string
	temporary bool // dir is ours to remove
	programs  *programs.Programs
	spawner   *spawner
	etcd      *etcd
	hub       *Cluster

	stop func() error // Stop's work, done once

	mu     sync.Mutex
	locked struct {
		members []*Cluster
		beside  []*Process
	}

	sayMu sync.Mutex // makes cfg.Progress safe to share
}

// Start starts what cfg says and returns when the hub and every member are ready
// to be used: API servers are ready, nodes are Ready, and service accounts exist.
// It first builds the programs if they are not there yet, which takes minutes.
// ctx bounds the start only. If it fails, everything started has been stopped.
func Start(ctx context.Context, cfg Config) (*Fleet, error) {
	cfg, err := validated(cfg)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	found, err := programs.Find(ctx, cfg.Progress)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{cfg: cfg, programs: found, spawner: newSpawner()}
	f.stop = sync.OnceValue(f.stopOnce)
	if err := f.start(ctx); err != nil {
		return nil, fmt.Errorf("fleet: %w", errors.Join(err, f.Stop()))
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context) (err error) {
	begin := time.Now()
	if err := f.makeDir(); err != nil {
		return err
	}
	if f.etcd, err = startEtcd(ctx, f.spawner, f.programs.Path(programs.Etcd), f.dir); err != nil {
		return err
	}
	f.hub = &Cluster{fleet: f, name: HubName, member: Member{Name: HubName, ServiceCIDR: hubServiceCIDR}}
	for _, m := range f.cfg.Members {
		f.locked.members = append(f.locked.members, &Cluster{fleet: f, name: m.Name, member: m})
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelStarts)
	group.Go(func() error { return f.startHub(ctx) })
	for _, c := range f.Members() {
		group.Go(func() error { return f.startCluster(ctx, c) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.say("fleet: hub and %d members are ready after %.1f s", len(f.cfg.Members), time.Since(begin).Seconds())
	return nil
}

// Stop ends every process, waits until it is gone, and removes the directory if
// it was a temporary one. A second call does no more than the first.
func (f *Fleet) Stop() error { return f.stop() }

func (f *Fleet) stopOnce() error {
	besides := f.stopBeside()
	clusters := f.Members()
	if f.hub != nil {
		clusters = append(clusters, f.hub)
	}
	errs := make([]error, len(clusters)+1)
	var wg sync.WaitGroup
	for i, c := range clusters {
		wg.Go(func() { errs[i] = c.Kill() })
	}
	if f.etcd != nil {
		wg.Go(func() { errs[len(clusters)] = f.etcd.process.kill() })
	}
	wg.Wait()
	f.spawner.close()
	if f.temporary {
		errs = append(errs, os.RemoveAll(f.dir))
	}
	if err := errors.Join(append(errs, besides)...); err != nil {
		return fmt.Errorf("stop fleet: %w", err)
	}
	return nil
}

// stopBeside ends the programs that were run beside the clusters.
func (f *Fleet) stopBeside() error {
	f.mu.Lock()
	beside := f.locked.beside
	f.locked.beside = nil
	f.mu.Unlock()
	var errs []error
	for _, p := range beside {
		errs = append(errs, p.Kill())
	}
	return errors.Join(errs...)
}

// Hub returns the hub.
func (f *Fleet) Hub() *Cluster { return f.hub }

// Members returns the members in the order in which they were asked for.
func (f *Fleet) Members() []*Cluster {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.locked.members)
}

// Member returns the member called name, or nil if there is none.
func (f *Fleet) Member(name string) *Cluster {
	for _, c := range f.Members() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Dir returns the directory that holds kubeconfigs, logs and state; see Config.
func (f *Fleet) Dir() string { return f.dir }

// AddMember starts one more member.
func (f *Fleet) AddMember(ctx context.Context, m Member) (*Cluster, error) {
	m, err := validatedMember(m)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	c := &Cluster{fleet: f, name: m.Name, member: m}
	if !f.enlist(c) {
		return nil, fmt.Errorf("fleet: member %q: the name is taken", m.Name)
	}
	if err := f.startCluster(ctx, c); err != nil {
		f.strike(c)
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return c, nil
}

// RemoveMember ends a member for good. It stays registered on the hub as long as
// nobody unregisters it: a cluster that is gone does not say so.
func (f *Fleet) RemoveMember(c *Cluster) error {
	f.strike(c)
	return c.Kill()
}

func (f *Fleet) enlist(c *Cluster) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := slices.ContainsFunc(f.locked.members, func(other *Cluster) bool { return other.name == c.name })
	if !taken {
		f.locked.members = append(f.locked.members, c)
	}
	return !taken
}

func (f *Fleet) strike(c *Cluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked.members = slices.DeleteFunc(f.locked.members, func(other *Cluster) bool { return other == c })
}

func (f *Fleet) makeDir() (err error) {
	if f.cfg.Dir == "" {
		f.temporary = true
		if f.dir, err = os.MkdirTemp("", "syncline-fleet-*"); err != nil {
			return fmt.Errorf("make state directory: %w", err)
		}
		return nil
	}
	if f.dir, err = filepath.Abs(f.cfg.Dir); err != nil {
		return fmt.Errorf("find state directory: %w", err)
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	return nil
}

func (f *Fleet) startHub(ctx context.Context) error {
	if err := f.startCluster(ctx, f.hub); err != nil {
		return err
	}
	return f.furnishHub(ctx)
}

// furnishHub gives an empty hub what a hub has before anybody comes.
func (f *Fleet) furnishHub(ctx context.Context) error {
	if f.cfg.WithoutClusterAPI {
		return nil
	}
	dir, err := f.programs.ModuleDir(ctx, clusterAPIModule)
	if err != nil {
		return err
	}
	return f.installCRDs(ctx, filepath.Join(dir, clusterCRD))
}

func (f *Fleet) startCluster(ctx context.Context, c *Cluster) error {
	begin := time.Now()
	if err := c.create(ctx); err != nil {
		return err
	}
	f.say("fleet: %s is ready after %.1f s", c.name, time.Since(begin).Seconds())
	return nil
}

// Kubectl returns the file of a kubectl of the clusters' version.
func (f *Fleet) Kubectl() string { return f.programs.Path(programs.Kubectl) }

// say writes a line for a person.
func (f *Fleet) say(format string, args ...any) {
	f.sayMu.Lock()
	defer f.sayMu.Unlock()
	_, _ = fmt.Fprintf(f.cfg.Progress, format+"\n", args...)
}
