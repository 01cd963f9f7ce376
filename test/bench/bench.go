package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

const (
	// userAgent tells the bench's own requests from those that are counted.
	userAgent = "bench"
	// hubNamespace is where members and layers are on the hub.
	hubNamespace = "fleet"
	// measured is the layer that is changed.
	measured = "web"
)

// bench is a fleet with the measured layer in place, twice: Syncline's and the bare loop's.
type bench struct {
	settings
	fleet   *fleet.Fleet
	product *install.Installation
	profile profile // of the manager
	hub     client.Client
	bare    map[string]rest.Interface // by member
	watches *watches
	stamps  []string // of the measured layer's objects
	count   int
}

// prepare starts the manager, registers the members, puts the layer in place both ways and
// waits until it has converged.
func prepare(ctx context.Context, f *fleet.Fleet, s settings) (*bench, error) {
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		return nil, err
	}
	b := &bench{settings: s, fleet: f, bare: map[string]rest.Interface{}, stamps: make([]string, measuredObjects)}
	if err := b.install(ctx); err != nil {
		return nil, err
	}
	config := f.Hub().RESTConfig()
	config.UserAgent = userAgent
	var err error
	if b.hub, err = client.New(config, client.Options{Scheme: scheme.Scheme}); err != nil {
		return nil, err
	}
	for _, m := range f.Members() {
		if err := b.register(ctx, m); err != nil {
			return nil, err
		}
	}
	return b, b.furnish(ctx)
}

// install starts Syncline as users do, with profiles served.
func (b *bench) install(ctx context.Context) (err error) {
	if b.profile.address, err = freeAddress(ctx); err != nil {
		return err
	}
	args := append(b.managerArgs, "--pprof-bind-address="+b.profile.address)
	b.product, err = install.Install(ctx, b.fleet, install.Options{Replicas: 1, Args: args})
	say("the manager's profiles are at http://%s/debug/pprof", b.profile.address)
	return err
}

func (b *bench) register(ctx context.Context, m *fleet.Cluster) error {
	if err := b.fleet.Register(ctx, m); err != nil {
		return err
	}
	config := m.RESTConfig()
	config.UserAgent = userAgent
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	b.bare[m.Name()] = c.CoreV1().RESTClient()
	return nil
}

// furnish makes the namespaces and the measured layer, and watches its objects.
func (b *bench) furnish(ctx context.Context) error {
	base, err := layerOf("base", 0, []object{namespaceOf(oursNamespace), namespaceOf(bareNamespace)})
	if err != nil {
		return err
	}
	if err := b.put(ctx, base); err != nil {
		return err
	}
	var feeds []feed
	for _, m := range b.fleet.Members() {
		for _, namespace := range []string{oursNamespace, bareNamespace} {
			feeds = append(feeds,
				feed{m, configMaps, namespace, stampOf}, feed{m, services, namespace, stampOf}, feed{m, deployments, namespace, stampOf})
		}
	}
	if b.watches, err = watchAll(ctx, feeds...); err != nil {
		return err
	}
	b.stampAll()
	if err := b.applyOurs(ctx); err != nil {
		return err
	}
	if err := b.applyBare(ctx, objects(bareNamespace, b.stamps)); err != nil {
		return err
	}
	return b.converged(ctx, measured)
}

// stampAll marks all objects as changed.
func (b *bench) stampAll() {
	b.count++
	for i := range b.stamps {
		b.stamps[i] = strconv.Itoa(b.count)
	}
}

// stampOne marks one object as changed.
func (b *bench) stampOne(i int) {
	b.count++
	b.stamps[i] = strconv.Itoa(b.count)
}

// newest is the predicate for the stamp that was set last.
func (b *bench) newest() func(stamp string) bool {
	newest := strconv.Itoa(b.count)
	return func(stamp string) bool { return stamp == newest }
}

// applyOurs is the user's edit: the layer as a whole.
func (b *bench) applyOurs(ctx context.Context) error {
	layer, err := layerOf(measured, 100, objects(oursNamespace, b.stamps))
	if err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{
		"apiVersion": layer.APIVersion, "kind": layer.Kind,
		"metadata": object{"namespace": layer.Namespace, "name": layer.Name}, "spec": layer.Spec,
	})
	if err != nil {
		return err
	}
	return b.hub.Patch(ctx, layer, client.RawPatch(types.ApplyPatchType, raw), client.ForceOwnership, client.FieldOwner(userAgent))
}

// applyBare is the bare loop: one goroutine for each object and member.
func (b *bench) applyBare(ctx context.Context, changed []object) error {
	var group errgroup.Group
	for _, m := range b.fleet.Members() {
		for _, o := range changed {
			group.Go(func() error { return b.applyBareOne(ctx, m.Name(), o) })
		}
	}
	return group.Wait()
}

func (b *bench) applyBareOne(ctx context.Context, member string, o object) error {
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	where := at(member, o)
	root := "/api/v1"
	if where.resource == deployments.Resource {
		root = "/apis/apps/v1"
	}
	err = b.bare[member].Patch(types.ApplyYAMLPatchType).
		AbsPath(root, "namespaces", where.namespace, where.resource, where.name).
		Param("fieldManager", userAgent).Param("force", "true").
		Body(raw).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("bare apply of %v: %w", where, err)
	}
	return nil
}

// everywhere are the places of objects on members.
func everywhere(members []*fleet.Cluster, objects []object) []place {
	var places []place
	for _, m := range members {
		for _, o := range objects {
			places = append(places, at(m.Name(), o))
		}
	}
	return places
}

// put makes a layer and waits until it has converged.
func (b *bench) put(ctx context.Context, layer *v1alpha1.Layer) error {
	if err := b.hub.Create(ctx, layer); err != nil {
		return fmt.Errorf("make layer %s: %w", layer.Name, err)
	}
	return b.converged(ctx, layer.Name)
}

// take deletes a layer and waits until it is undone on all members.
func (b *bench) take(ctx context.Context, name string) error {
	layer := &v1alpha1.Layer{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: name}}
	if err := b.hub.Delete(ctx, layer); err != nil {
		return fmt.Errorf("delete layer %s: %w", name, err)
	}
	err := until(ctx, func(ctx context.Context) (bool, error) {
		err := b.hub.Get(ctx, client.ObjectKeyFromObject(layer), layer)
		return err != nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("layer %s is not undone: %w", name, err)
	}
	return nil
}

// converged waits until a layer says that it has converged on all members.
func (b *bench) converged(ctx context.Context, name string) error {
	var layer v1alpha1.Layer
	err := until(ctx, func(ctx context.Context) (bool, error) {
		if err := b.hub.Get(ctx, client.ObjectKey{Namespace: hubNamespace, Name: name}, &layer); err != nil {
			return false, err
		}
		condition := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.ConditionConverged)
		return condition != nil && condition.Status == metav1.ConditionTrue &&
			condition.ObservedGeneration == layer.Generation && int(layer.Status.Members.Total) == len(b.bare), nil
	})
	if err != nil {
		return fmt.Errorf("layer %s has not converged: %w\n%+v", name, err, layer.Status)
	}
	return nil
}

// until looks until something holds, for a few minutes at most.
func until(ctx context.Context, holds wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 4*time.Minute, true, holds)
}
