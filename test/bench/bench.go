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
)

// userAgent tells the bench's own requests from those that are counted.
const userAgent = "bench"

// bench is a fleet with the measured layer in place, twice: Syncline's and the bare loop's.
type bench struct {
	fleet   *fleet.Fleet
	hub     client.Client
	bare    map[string]rest.Interface // by member
	watches *watches
	stamps  []string // of the layer's objects
	count   int
}

// prepare registers the members, puts the layer in place both ways and waits until it has
// converged.
func prepare(ctx context.Context, f *fleet.Fleet) (*bench, error) {
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		return nil, err
	}
	config := f.Hub().RESTConfig()
	config.UserAgent = userAgent
	hub, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return nil, err
	}
	b := &bench{fleet: f, hub: hub, bare: map[string]rest.Interface{}, stamps: make([]string, 20)}
	for _, m := range f.Members() {
		if err := f.Register(ctx, m); err != nil {
			return nil, err
		}
		config := m.RESTConfig()
		config.UserAgent = userAgent
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		b.bare[m.Name()] = c.CoreV1().RESTClient()
	}
	namespaces := []object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": oursNamespace}},
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": bareNamespace}},
	}
	base, err := layerOf("base", 0, namespaces)
	if err != nil {
		return nil, err
	}
	if err := hub.Create(ctx, base); err != nil {
		return nil, err
	}
	if err := b.converged(ctx, "base"); err != nil {
		return nil, err
	}
	if b.watches, err = watchAll(ctx, f.Members(), oursNamespace, bareNamespace); err != nil {
		return nil, err
	}
	b.stampAll()
	if err := b.applyOurs(ctx); err != nil {
		return nil, err
	}
	if err := b.applyBare(ctx, objects(bareNamespace, b.stamps)); err != nil {
		return nil, err
	}
	return b, b.converged(ctx, "web")
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

// applyOurs is the user's edit: the layer as a whole.
func (b *bench) applyOurs(ctx context.Context) error {
	layer, err := layerOf("web", 100, objects(oursNamespace, b.stamps))
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
	if where.resource == "deployments" {
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

// converged waits until a layer says that it has converged.
func (b *bench) converged(ctx context.Context, name string) error {
	say("waiting for layer %s to converge", name)
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		var layer v1alpha1.Layer
		if err := b.hub.Get(ctx, client.ObjectKey{Namespace: "fleet", Name: name}, &layer); err != nil {
			return false, err
		}
		condition := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.ConditionConverged)
		return condition != nil && condition.Status == metav1.ConditionTrue &&
			condition.ObservedGeneration == layer.Generation && int(layer.Status.Members.Total) == len(b.bare), nil
	})
	if err != nil {
		return fmt.Errorf("layer %s has not converged: %w", name, err)
	}
	return nil
}

// everywhere are the places of objects on all members.
func (b *bench) everywhere(changed []object) []place {
	var places []place
	for member := range b.bare {
		for _, o := range changed {
			places = append(places, at(member, o))
		}
	}
	return places
}
