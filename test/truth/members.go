package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/syncline-dev/syncline/test/fleet"
)

// soonest and latest bound how long the controller of widgets takes to answer.
const (
	soonest = 200 * time.Millisecond
	latest  = 1500 * time.Millisecond
)

// member is a cluster as the harness sees it, undelayed, and the controller of its widgets.
type member struct {
	name    string
	client  dynamic.Interface
	journal *journal
	beats   atomic.Int64

	mu     sync.Mutex
	locked struct {
		generations map[string]int64 // the newest, by widget
		answering   map[string]bool
	}
}

func newMember(c *fleet.Cluster, j *journal) (*member, error) {
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		return nil, err
	}
	m := &member{name: c.Name(), client: client, journal: j}
	m.locked.generations, m.locked.answering = map[string]int64{}, map[string]bool{}
	return m, nil
}

func (m *member) objects(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return m.client.Resource(resource).Namespace(namespace)
}

// run keeps the journal, and answers for widgets, until ctx is done.
func (m *member) run(ctx context.Context) error {
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error {
		return fleet.Follow(ctx, m.objects(configMaps), func(event watch.EventType, u *unstructured.Unstructured) error {
			return m.journal.object(m.name, event, u)
		})
	})
	running.Go(func() error {
		return fleet.Follow(ctx, m.objects(widgets), func(event watch.EventType, u *unstructured.Unstructured) error {
			if event != watch.Deleted && m.owesAnswer(u) {
				running.Go(func() error { return m.answer(ctx, u.GetName()) })
			}
			return m.journal.object(m.name, event, u)
		})
	})
	return running.Wait()
}

// owesAnswer says whether an answer is to be given that is not on its way.
func (m *member) owesAnswer(u *unstructured.Unstructured) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.locked.generations[u.GetName()] = u.GetGeneration()
	if answered(u) || m.locked.answering[u.GetName()] {
		return false
	}
	m.locked.answering[u.GetName()] = true
	return true
}

// answer says after a while that the controller has seen a widget's newest generation, and then
// that it is well in the newest there is by then.
func (m *member) answer(ctx context.Context, widget string) error {
	takes := soonest + rand.N(latest-soonest)
	pause(ctx, takes/2)
	if err := m.report(ctx, widget, m.generation(widget), "False"); err != nil {
		return err
	}
	pause(ctx, takes/2)
	m.mu.Lock()
	generation := m.locked.generations[widget]
	delete(m.locked.answering, widget) // what comes from now on calls for another answer
	m.mu.Unlock()
	return m.report(ctx, widget, generation, "True")
}

func (m *member) generation(widget string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.locked.generations[widget]
}

func (m *member) report(ctx context.Context, widget string, generation int64, ready string) error {
	return m.patch(ctx, widget, object{"status": object{
		"observedGeneration": generation, "conditions": []any{object{"type": "Ready", "status": ready}},
	}}, "status")
}

// vandalise does to a widget what Syncline has to mend.
func (m *member) vandalise(ctx context.Context, widget string) error {
	return m.patch(ctx, widget, object{"spec": object{"content": vandalism}})
}

// beat is a sign of life of a widget's controller, which says nothing about the widget.
func (m *member) beat(ctx context.Context, widget string) error {
	return m.patch(ctx, widget, object{"status": object{"beats": m.beats.Add(1)}}, "status")
}

// patch is no error when ctx is done.
func (m *member) patch(ctx context.Context, widget string, change object, subresources ...string) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = m.objects(widgets).Patch(ctx, widget, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager}, subresources...)
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// register makes the member known to the hub, by the way that a kubeconfig says.
func register(ctx context.Context, hub dynamic.Interface, name string, kubeconfig []byte) error {
	secret := &unstructured.Unstructured{Object: object{
		"apiVersion": "v1", "kind": "Secret", "type": string(clusterv1.ClusterSecretType),
		"metadata":   object{"name": name + "-kubeconfig", "labels": object{clusterv1.ClusterNameLabel: name}},
		"stringData": object{"value": string(kubeconfig)},
	}}
	_, err := hub.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(hubNamespace).Create(ctx, secret, metav1.CreateOptions{FieldManager: manager})
	return err
}
