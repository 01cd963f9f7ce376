package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// settle waits until a cluster whose API server is ready can be used: pods can be
// created and will run.
func (c *Cluster) settle(ctx context.Context) error {
	cl, err := c.Client(nil)
	if err != nil {
		return err
	}
	for i := range c.member.Nodes {
		if err := client.IgnoreAlreadyExists(cl.Create(ctx, fakeNode(i))); err != nil {
			return fmt.Errorf("create node: %w", err)
		}
	}
	err = poll(ctx, "the default service account", func(ctx context.Context) (bool, error) {
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "default"}
		err := cl.Get(ctx, key, &corev1.ServiceAccount{})
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return poll(ctx, "nodes to be Ready", func(ctx context.Context) (bool, error) {
		return nodesReady(ctx, cl)
	})
}

// fakeNode returns a node that kwok brings to life.
func fakeNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		Labels: map[string]string{
			corev1.LabelHostname:   name,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: "amd64",
			"type":                 "kwok",
		},
	}}
}

func nodesReady(ctx context.Context, cl client.Client) (bool, error) {
	var nodes corev1.NodeList
	if err := cl.List(ctx, &nodes); err != nil {
		return false, err
	}
	for _, node := range nodes.Items {
		if !nodeReady(&node) {
			return false, fmt.Errorf("node %s is not Ready", node.Name)
		}
	}
	return true, nil
}

// nodeReady is true once pods can be scheduled on the node: the taint of a new
// node goes a moment after it became Ready.
func nodeReady(node *corev1.Node) bool {
	if slices.ContainsFunc(node.Spec.Taints, setByHealth) {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func setByHealth(taint corev1.Taint) bool {
	return strings.HasPrefix(taint.Key, "node.kubernetes.io/")
}

// ensureNamespace makes a namespace that may be there, and waits until it can be
// used: one that is being deleted first has to go.
func ensureNamespace(ctx context.Context, cl client.Client, name string) error {
	return poll(ctx, "namespace "+name, func(ctx context.Context) (bool, error) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		err := cl.Create(ctx, ns)
		if !apierrors.IsAlreadyExists(err) {
			return err == nil, err
		}
		if err := cl.Get(ctx, client.ObjectKeyFromObject(ns), ns); err != nil {
			return false, err
		}
		if !ns.DeletionTimestamp.IsZero() {
			return false, errors.New("is being deleted")
		}
		return true, nil
	})
}
