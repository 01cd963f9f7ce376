package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// namespace is where the demo's members and their layers are; deploy/examples has it too.
const namespace = "fleet"

// demo is what the steps share.
type demo struct {
	*narrator
	options  options
	dir      directory
	fleet    *fleet.Fleet
	syncline *install.Installation
	hub      client.Client
}

// tell runs the demo from beginning to end. Whatever was started has ended when it returns.
func tell(ctx context.Context, o options, n *narrator) (err error) {
	d := &demo{narrator: n, options: o}
	if d.dir, err = openDirectory(install.Path(".demo")); err != nil {
		return err
	}
	defer d.dir.close()
	defer func() { err = errors.Join(err, d.stop()) }()

	for _, step := range []func(context.Context) error{
		d.startClusters, d.installSyncline, d.registerMembers, d.applyLayers, d.showLayers, d.showDrift, d.lookAround,
	} {
		if err := step(ctx); err != nil {
			return whyEnded(ctx, err)
		}
	}
	if !o.once {
		<-ctx.Done()
	}
	return nil
}

// whyEnded prefers a person's wish to the error in which it shows.
func whyEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

func (d *demo) startClusters(ctx context.Context) (err error) {
	members := membersOf(d.options.members)
	d.step("Starting real control planes on this machine: a hub and %s", number(len(members), "member", "members"))
	d.fleet, err = fleet.Start(ctx, fleet.Config{Members: members, Dir: d.dir.path, Progress: d.narrator})
	if err != nil {
		return err
	}
	d.hub, err = d.fleet.Hub().Client(hubScheme())
	return err
}

// membersOf are eu-1, us-1, eu-2, us-2 and so on.
func membersOf(n int) []fleet.Member {
	regions := []string{"eu", "us"}
	members := make([]fleet.Member, n)
	for i := range members {
		region := regions[i%len(regions)]
		members[i] = fleet.Member{
			Name:      fmt.Sprintf("%s-%d", region, i/len(regions)+1),
			Labels:    map[string]string{"region": region, "tier": "prod"},
			Namespace: namespace,
		}
	}
	slices.SortFunc(members, func(a, b fleet.Member) int { return cmp.Compare(a.Name, b.Name) })
	return members
}

func (d *demo) installSyncline(ctx context.Context) (err error) {
	d.step("Building Syncline and installing it on the hub: CRDs, RBAC and %s", number(d.options.replicas, "manager replica", "manager replicas"))
	if d.syncline, err = install.Install(ctx, d.fleet, install.Options{}); err != nil {
		return err
	}
	for range d.options.replicas {
		replica, err := d.syncline.StartReplica(ctx)
		if err != nil {
			return err
		}
		if err := d.dir.writePID(replica.Identity, replica.PID()); err != nil {
			return err
		}
		d.detail("%s is healthy: process %d, log in %s", replica.Identity, replica.PID(), d.dir.show(replica.LogPath()))
	}
	return nil
}

func (d *demo) registerMembers(ctx context.Context) error {
	d.step("Registering the members as Cluster API does: a Cluster and a kubeconfig Secret for each")
	for _, member := range d.fleet.Members() {
		if err := d.fleet.Register(ctx, member); err != nil {
			return err
		}
	}
	return d.awaitMembers(ctx)
}

// layerFiles are the files of deploy/examples, in the order of their names.
func layerFiles() ([]string, error) {
	files, err := filepath.Glob(install.Path("deploy", "examples", "*.yaml"))
	if err == nil && len(files) == 0 {
		err = errors.New("deploy/examples holds no layers")
	}
	return files, err
}

func (d *demo) applyLayers(ctx context.Context) error {
	files, err := layerFiles()
	if err != nil {
		return err
	}
	d.step("Applying the layers of deploy/examples")
	begin := time.Now()
	for _, file := range files {
		if err := install.Apply(ctx, d.fleet.Hub(), file); err != nil {
			return err
		}
	}
	converged, err := d.awaitConvergence(ctx, true)
	if err != nil {
		return err
	}
	d.detail("all have converged, %s on members, %s after the first was applied", converged, took(time.Since(begin)))
	return nil
}

// stop ends the managers, so that they can hand over and say goodbye, and then the fleet.
func (d *demo) stop() error {
	if d.fleet == nil {
		return nil
	}
	d.step("Stopping the managers, then the control planes")
	var errs []error
	if d.syncline != nil {
		errs = append(errs, d.stopManagers())
	}
	errs = append(errs, d.fleet.Stop())
	d.detail("everything has ended; logs are in %s", d.dir.show(d.dir.path))
	return errors.Join(errs...)
}
