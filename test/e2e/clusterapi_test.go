package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

func TestPausedClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	cluster := &clusterv1.Cluster{ObjectMeta: a.onHub("eu")}
	a.patch(cluster, `{"spec":{"paused":true}}`)
	a.expectPausedAlone("eu", "ClusterPaused")

	a.patch(cluster, `{"spec":{"paused":false}}`)
	a.expectGreeting("good morning")
	a.awaitConverged("web")
}

// While Cluster API takes a cluster down, nothing is written to it, and nothing of ours
// holds the deletion up.
func TestClusterThatIsBeingDeletedIsLeftAlone(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	cluster := &clusterv1.Cluster{ObjectMeta: a.onHub("eu")}
	a.patch(cluster, `{"metadata":{"finalizers":["`+hold+`"]}}`)
	released := false
	release := func(ctx context.Context) {
		if err := a.hub.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
			t.Error(err)
			return
		}
		controllerutil.RemoveFinalizer(cluster, hold)
		if err := a.hub.Update(ctx, cluster); err != nil {
			t.Error(err)
		}
		released = true
	}
	t.Cleanup(func() {
		ctx, cancel := afterTest()
		defer cancel()
		if !released {
			release(ctx)
		}
	})
	a.remove(cluster)
	a.expectPausedAlone("eu", "ClusterDeleting")

	// A layer that goes now does not wait for the cluster either, once that has gone.
	a.removeLayer("web")
	release(t.Context())
	a.eventually("the member is gone with the cluster, and the layer can go", func(g gomega.Gomega) {
		g.Expect(namesOf(a.Context(), a.hub, &clusterv1.ClusterList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("us"))
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.MemberClusterList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("us"))
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty())
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty())
	})
}

func TestLabelsOfClustersSelectMembers(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello", "clusterSelector: {}", "clusterSelector: {matchLabels: {tier: prod}}")
	a.awaitConvergedOn("web", 0)
	eu, us := a.site("eu"), a.site("us")

	a.labelCluster("eu", `"prod"`)
	a.awaitConvergedOn("web", 1)
	eu.expectGreeting("hello")
	a.now("the label is on the member, and the layer on no other", func(g gomega.Gomega) {
		g.Expect(a.member(g, "eu").Labels).To(gomega.HaveKeyWithValue("tier", "prod"))
		us.lacks(g, "v1", "ConfigMap", "web")
	})

	a.labelCluster("us", `"prod"`)
	a.awaitConvergedOn("web", 2)
	us.expectGreeting("hello")

	a.labelCluster("eu", "null")
	a.eventually("the layer has left the first member, all of it", func(g gomega.Gomega) {
		g.Expect(a.member(g, "eu").Labels).NotTo(gomega.HaveKey("tier"))
		eu.lacks(g, "v1", "ConfigMap", "web")
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.HaveLen(1))
	})
	a.awaitConvergedOn("web", 1)
	us.expectGreeting("hello")
}

func (a *arena) labelCluster(name, tier string) {
	a.Helper()
	a.patch(&clusterv1.Cluster{ObjectMeta: a.onHub(name)}, `{"metadata":{"labels":{"tier":`+tier+`}}}`)
}

// A hub of its own, on which Cluster API's kinds are installed long after the manager has
// started. Its member is one that the shared hub knows too: they leave each other alone.
func TestHubWithoutClusterAPI(t *testing.T) {
	t.Parallel()
	f := startHub(t, fleet.Config{WithoutClusterAPI: true})

	first := newArena(t, "us")
	first.apply(webLayer, "$GREETING", "hello")
	first.awaitConverged("web")

	a := withoutClusterAPI(t, f, first.namespace)
	a.registerSecret("us", shared.Member("us"), nil)
	a.awaitReady("us")
	const other = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: other}
spec:
  order: 100
  clusterSelector: $SELECTOR
  sync: {allowEmpty: true}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}, data: {greeting: salut}}
`
	a.apply(other, "$SELECTOR", "{}")
	a.awaitConverged("other")

	// Cluster API arrives, and with it a Cluster whose labels select the member.
	a.apply(other, "$SELECTOR", "{matchLabels: {tier: prod}}")
	a.awaitConvergedOn("other", 0)
	if err := f.InstallCRDs(t.Context(), clusterCRDs(t)); err != nil {
		t.Fatal(err)
	}
	a.apply(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: us, labels: {tier: prod}}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: FleetCluster, name: us}
`)
	a.awaitConvergedOn("other", 1)

	a.now("neither hub has touched what is the other's", func(g gomega.Gomega) {
		g.Expect(first.site("us").data(g, "web")).To(gomega.HaveKeyWithValue("greeting", "hello"))
		g.Expect(isConverged(first.layer(g, "web"))).To(gomega.BeTrue())
	})
}

// withoutClusterAPI is an arena on a hub that may lack Cluster API's kinds. The hub ends
// with the test, so that nothing has to be undone.
func withoutClusterAPI(t *testing.T, f *fleet.Fleet, namespace string) *arena {
	t.Helper()
	a := bareArena(t, f, namespace)
	a.create(a.hub, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	return a
}

// clusterCRDs is a directory with the CustomResourceDefinition of Clusters alone.
func clusterCRDs(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	const file = "cluster.x-k8s.io_clusters.yaml"
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "core/config/crd/bases", file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
