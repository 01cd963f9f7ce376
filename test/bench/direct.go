package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// directAgent tells the writes of direct from Syncline's.
	directAgent = "bench-direct"
	// mostWaiting is more than the changes on one member in a flood.
	mostWaiting = 4 * floodRate * 20
)

// direct is a controller as they are commonly written: for each member one worker that takes
// the changes in their order and writes one status on the hub for each.
type direct struct {
	*bench
	hub     dynamic.Interface
	members map[string]dynamic.Interface
}

// newDirect makes what direct writes to. It reaches the hub by the gateway.
func (b *bench) newDirect(ctx context.Context, gateway *fleet.Gateway) (*direct, error) {
	kubeconfig, err := gateway.Kubeconfig()
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent, config.QPS = directAgent, -1
	d := &direct{bench: b, members: map[string]dynamic.Interface{}}
	if d.hub, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	for _, m := range b.fleet.Members() {
		if d.members[m.Name()], err = dynamic.NewForConfig(m.RESTConfig()); err != nil {
			return nil, err
		}
	}
	return d, b.makeReports(ctx, d.hub)
}

// during runs the controller while something is done.
func (d *direct) during(ctx context.Context, do func() error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	running, ctx := errgroup.WithContext(ctx)
	for member := range d.members {
		queue := make(chan sighting, mostWaiting)
		running.Go(func() error { return d.watch(ctx, member, queue) })
		running.Go(func() error { return d.work(ctx, member, queue) })
	}
	err := do()
	stop()
	return errors.Join(err, running.Wait())
}

// watch queues what changes on a member.
func (d *direct) watch(ctx context.Context, member string, queue chan<- sighting) error {
	newest := map[string]int{}
	resource := d.members[member].Resource(deployments).Namespace(bareNamespace)
	return fleet.Follow(ctx, resource, func(_ watch.EventType, u *unstructured.Unstructured) error {
		message, _ := stalledIn(u)["message"].(string)
		number := numberIn(message)
		if number <= newest[u.GetName()] {
			return nil // something else has changed
		}
		newest[u.GetName()] = number
		select {
		case queue <- sighting{u.GetName(), number}:
		case <-ctx.Done():
		}
		return nil
	})
}

// sighting is a change that a watch has told of.
type sighting struct {
	deployment string
	number     int
}

// work writes one status after the other.
func (d *direct) work(ctx context.Context, member string, queue <-chan sighting) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case seen := <-queue:
			raw := fmt.Appendf(nil, `{"status":{"changes":{%q:%d}}}`, seen.deployment, seen.number)
			_, err := d.hub.Resource(reports).Namespace(hubNamespace).
				Patch(ctx, member, types.MergePatchType, raw, metav1.PatchOptions{}, "status")
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("report on %s: %w", member, err)
			}
		}
	}
}
