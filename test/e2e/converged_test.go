package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// numbered is a layer whose Deployment holds a number.
const numbered = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app, namespace: $NS}
    spec:
      replicas: 2
      selector: {matchLabels: {app: app}}
      template:
        metadata: {labels: {app: app}, annotations: {number: "$NUMBER"}}
        spec: {containers: [{name: app, image: app}]}
`

// Whoever waits for condition Converged acts when it is True for the generation at hand.
// While a layer is edited again and again, that is never said before each member has it.
func TestConvergedIsNeverSaidTooEarly(t *testing.T) {
	t.Parallel()
	const edits = 12
	a := newArena(t)
	a.apply(numbered, "$NUMBER", "0")
	a.awaitConverged("app")

	edited := make(chan error, 1)
	go func() { edited <- a.editAtRandom(a.Context(), edits) }()
	said := map[int]int{}
	for last := false; !last; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-edited:
			if err != nil {
				t.Fatal(err, a.story())
			}
			edited = nil
		default:
		}
		var layer v1alpha1.Layer
		if err := a.hub.Get(t.Context(), client.ObjectKey{Namespace: a.namespace, Name: "app"}, &layer); err != nil {
			t.Fatal(err)
		}
		number := numberOfLayer(t, &layer)
		if !isConverged(&layer) {
			continue
		}
		said[number]++
		for _, s := range a.sites {
			if err := s.hasReached(number); err != nil {
				t.Fatalf("Converged is True for generation %d, which holds %d, and %s %v\n%s",
					layer.Generation, number, s.name, err, a.story())
			}
		}
		last = number == edits
	}
	t.Logf("said to have converged, by number: %v", said)
	if len(said) < 3 {
		t.Errorf("looked at too few moments: %v", said)
	}
}

// editAtRandom edits the layer in bursts, between which it may converge.
func (a *arena) editAtRandom(ctx context.Context, edits int) error {
	for n := 1; n <= edits; n++ {
		if err := a.tryApply(ctx, numbered, "$NUMBER", strconv.Itoa(n)); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
		if n%3 != 0 {
			continue
		}
		err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
			var layer v1alpha1.Layer
			err := a.hub.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: "app"}, &layer)
			return isConverged(&layer), err
		})
		if err != nil {
			return fmt.Errorf("edit %d does not converge: %w", n, err)
		}
	}
	return nil
}

func numberOfLayer(t *testing.T, layer *v1alpha1.Layer) int {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(layer.Spec.Manifests[0].Raw); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(at(u, "spec", "template", "metadata", "annotations", "number").(string))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// hasReached says why the member has not reached a number. A member that is further on has.
func (s *site) hasReached(number int) error {
	var app appsv1.Deployment
	if err := s.client.Get(s.arena.Context(), client.ObjectKey{Namespace: s.arena.namespace, Name: "app"}, &app); err != nil {
		return err
	}
	have, err := strconv.Atoi(app.Spec.Template.Annotations["number"])
	switch {
	case err != nil:
		return err
	case have < number:
		return fmt.Errorf("has %d", have)
	case have > number:
		return nil
	}
	if status := app.Status; status.ObservedGeneration < app.Generation || status.UpdatedReplicas < 2 || status.AvailableReplicas < 2 {
		return fmt.Errorf("has not rolled out: %+v of generation %d", status, app.Generation)
	}
	return nil
}

func TestKubectlWaitForConvergedIsRight(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	for n := range 4 {
		a.apply(numbered, "$NUMBER", strconv.Itoa(n))
		if out, err := a.kubectlWait("layer/app", "60s"); err != nil {
			t.Fatalf("kubectl wait: %v\n%s\n%s", err, out, a.story())
		}
		for _, s := range a.sites {
			if err := s.hasReached(n); err != nil {
				t.Errorf("kubectl wait returned, and %s %v", s.name, err)
			}
		}
	}
	// What cannot be used is never waited for with success.
	a.apply(numbered, "$NUMBER", "4", "kind: Deployment", "kind: ''")
	if out, err := a.kubectlWait("layer/app", "4s"); err == nil {
		t.Errorf("kubectl wait says that a broken layer has converged: %s", out)
	}
}

func (a *arena) kubectlWait(what, timeout string) (string, error) {
	cmd := exec.CommandContext(a.Context(), a.fleet.Kubectl(), "--kubeconfig="+a.fleet.Hub().KubeconfigPath(),
		"wait", "--for=condition=Converged", what, "--namespace="+a.namespace, "--timeout="+timeout)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestConvergedWaitsForTheRollout(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(deploymentLayer)
	a.awaitConverged("app")

	// No node has room for such a Pod: the Deployment is applied and never available.
	a.apply(deploymentLayer, "cpu: 100m", "cpu: 100k")
	a.eventually("the binding names what it waits for", func(g gomega.Gomega) {
		status := a.binding(g, "app", "eu").Status
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateProgressing))
		g.Expect(status.Ready).To(gomega.Equal("0/1"))
		g.Expect(status.Message).To(gomega.ContainSubstring("Deployment " + a.namespace + "/app"))
	})
	a.throughout(3*time.Second, "the layer has not converged", func(g gomega.Gomega) {
		g.Expect(isConverged(a.layer(g, "app"))).To(gomega.BeFalse())
	})
	a.apply(deploymentLayer)
	a.awaitConverged("app")
}
