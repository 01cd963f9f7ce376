package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scale does what a HorizontalPodAutoscaler with minReplicas 4 would do now.
func (s *site) scale(name string, replicas int32) {
	s.arena.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: s.arena.onHub(name)}
	scale := &autoscalingv1.Scale{ObjectMeta: s.arena.onHub(name), Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	err := s.client.SubResource("scale").Update(s.arena.Context(), deployment, client.WithSubResourceBody(scale),
		&client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{FieldManager: "horizontal-pod-autoscaler"}})
	if err != nil {
		s.arena.Fatalf("scale %s on %s: %v", name, s.name, err)
	}
}

func (s *site) replicas(g gomega.Gomega, name string) int {
	replicas, _ := at(s.object(g, "apps/v1", "Deployment", name), "spec", "replicas").(int64)
	return int(replicas)
}

// ceded is deploymentLayer without a claim to the replicas.
const ceded = deploymentLayer + `
  sync:
    ignore:
    - target: {kind: Deployment}
      paths: [/spec/replicas]
`

// Whoever cedes a field in an incident must not lose what is there: an apply that leaves out
// a field of which nobody else is an owner deletes it, and the server's default is 1.
func TestF33CedingReplicasTakesNoneAway(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(deploymentLayer)
	a.awaitConverged("app")
	a.apply(ceded)
	a.throughout(3*time.Second, "the replicas stay", func(g gomega.Gomega) {
		g.Expect(a.site("eu").replicas(g, "app")).To(gomega.Equal(2))
	})
	a.awaitConverged("app")
}

func TestF33LayerCedesReplicasToAnAutoscaler(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(deploymentLayer)
	a.awaitConverged("app")

	// Not ceded, the field is ours: the two take turns.
	eu.scale("app", 4)
	a.eventually("what the autoscaler did is undone", func(g gomega.Gomega) {
		g.Expect(eu.replicas(g, "app")).To(gomega.Equal(2))
	})
	a.awaitConverged("app")

	a.apply(ceded)
	a.awaitConverged("app")
	eu.scale("app", 4)
	since := eu.cluster.Audit().End()
	a.throughout(quiet, "nobody scales back", func(g gomega.Gomega) {
		g.Expect(eu.replicas(g, "app")).To(gomega.Equal(4))
		g.Expect(eu.writes(g, since, eu.ours)).To(gomega.BeEmpty())
	})

	// The rest of the object is ours as before, and a change leaves the scale alone.
	a.apply(ceded, "image: app", "image: app:2")
	a.awaitConverged("app")
	a.now("the image is new, the scale is the autoscaler's", func(g gomega.Gomega) {
		app := eu.object(g, "apps/v1", "Deployment", "app")
		containers, _ := at(app, "spec", "template", "spec", "containers").([]any)
		g.Expect(containers[0]).To(gomega.HaveKeyWithValue("image", "app:2"))
		g.Expect(eu.replicas(g, "app")).To(gomega.Equal(4))
	})
}
