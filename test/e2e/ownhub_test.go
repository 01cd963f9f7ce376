package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// A hub of its own, whose manager knows each cluster once and waits for no absent member
// for long. Its members are clusters that the shared hub knows too.
func TestOwnHub(t *testing.T) {
	t.Parallel()
	f := startHub(t, fleet.Config{}, "--probe-interval=1s", "--orphan-after=5s")
	for name, test := range map[string]func(*arena){
		"cluster that is registered twice":     registeredTwice,
		"layer deleted while a member is away": deletedWhileAway,
		"hub that is its own member":           hubAsMember,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(emptyArena(t, f, nameFor(t)))
		})
	}
}

// startHub starts a hub of the test's own, with one manager. Both end with the test.
func startHub(t *testing.T, config fleet.Config, args ...string) *fleet.Fleet {
	t.Helper()
	f, _ := startOwn(t, config, args...)
	return f
}

// startOwn is startHub, and returns what is installed there too.
func startOwn(t *testing.T, config fleet.Config, args ...string) (*fleet.Fleet, *install.Installation) {
	t.Helper()
	f, err := fleet.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	installed, err := install.Install(t.Context(), f, install.Options{Replicas: 1, Programs: product.ProgramsDir(), Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fault := range installed.Faults() {
			t.Error(fault)
		}
		if t.Failed() {
			t.Log(lastLines(installed.Replicas[0].LogPath(), ""))
		}
	})
	return f, installed
}

// registeredTwice: the elder is served, and the younger when the elder is gone.
func registeredTwice(a *arena) {
	cluster := shared.Member("us")
	elder := a.registerSecret("elder", cluster, nil)
	a.awaitReady("elder")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	uid := elder.uid("v1", "ConfigMap", "web")

	kubeconfig, err := cluster.KubeconfigFor("younger", "system:masters")
	if err != nil {
		a.Fatal(err)
	}
	since := cluster.Audit().End()
	a.registerWith("younger", cluster, kubeconfig)
	duplicate := func(g gomega.Gomega, member string) metav1.Condition {
		return condition(a.member(g, member).Status.Conditions, v1alpha1.ConditionDuplicate)
	}
	barred := complaint{"DuplicateMember", []string{a.namespace + "/elder", "delete one of the two"}}
	a.eventually("both say so, and the younger is not served", func(g gomega.Gomega) {
		g.Expect(duplicate(g, "elder").Message).To(gomega.ContainSubstring(a.namespace + "/younger"))
		g.Expect(duplicate(g, "younger").Message).To(gomega.ContainSubstring(a.namespace + "/elder"))
		ready := condition(a.member(g, "younger").Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(ready.Status).To(gomega.Equal(metav1.ConditionFalse))
		barred.check(g, ready.Reason, ready.Message)
		status := a.binding(g, "web", "younger").Status
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		barred.check(g, condition(status.Conditions, v1alpha1.ConditionConverged).Reason, status.Message)
		g.Expect(a.layer(g, "web").LayerStatus().Converged).To(gomega.Equal("1/2"))
	})
	a.awaitReady("elder")
	a.apply(webLayer, "$GREETING", "good morning")
	elder.expectGreeting("good morning")
	byYounger := func(g gomega.Gomega) []string { return elder.writes(g, since, fleet.ByUser("younger")) }
	a.now("by one of them alone", func(g gomega.Gomega) { g.Expect(byYounger(g)).To(gomega.BeEmpty()) })

	a.remove(&corev1.Secret{ObjectMeta: a.onHub("elder-kubeconfig")})
	a.awaitReady("younger")
	a.awaitConvergedOn("web", 1)
	a.apply(webLayer, "$GREETING", "good night")
	elder.expectGreeting("good night")
	a.eventually("the other has taken over, and is no duplicate", func(g gomega.Gomega) {
		g.Expect(byYounger(g)).NotTo(gomega.BeEmpty())
		g.Expect(duplicate(g, "younger")).To(gomega.BeZero())
	})
	if now := elder.uid("v1", "ConfigMap", "web"); now != uid {
		a.Error("the object was made anew")
	}
}

// deletedWhileAway: the layer is let go after a while, and what it leaves is recorded.
func deletedWhileAway(a *arena) {
	cluster := shared.Member("eu")
	proxy, err := cluster.StartProxy()
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			a.Error(err)
		}
	})
	kubeconfig, err := proxy.Kubeconfig()
	if err != nil {
		a.Fatal(err)
	}
	away := a.registerWith("away", cluster, kubeconfig)
	a.awaitReady("away")
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "web")

	if err := proxy.Cut(); err != nil {
		a.Fatal(err)
	}
	a.eventually("the member is away", func(g gomega.Gomega) {
		g.Expect(condition(a.member(g, "away").Status.Conditions, v1alpha1.ConditionReachable).Status).To(gomega.Equal(metav1.ConditionFalse))
	})
	a.removeLayer("web")
	deleted := time.Now()
	a.awaitNoLayer()
	a.Logf("released after %s", time.Since(deleted).Round(time.Millisecond))
	recorded := func(g gomega.Gomega) {
		orphans := a.member(g, "away").Status.Orphans
		g.ExpectWithOffset(1, orphans).NotTo(gomega.BeNil())
		g.ExpectWithOffset(1, orphans.Count).To(gomega.BeEquivalentTo(2))
		g.ExpectWithOffset(1, orphans.Objects).To(gomega.ConsistOf(
			"ConfigMap "+a.namespace+"/other ("+a.namespace+"/web)", "ConfigMap "+a.namespace+"/web ("+a.namespace+"/web)",
		))
	}
	a.eventually("the member names what was left on it", recorded)
	a.awaitEventOn(v1alpha1.KindLayer, "web", "Orphaned", a.namespace+"/away", "ConfigMap "+a.namespace+"/web")

	// The objects have outlived their layer. One of that name takes them up again.
	if err := proxy.Heal(); err != nil {
		a.Fatal(err)
	}
	a.awaitReady("away")
	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", other)
	a.awaitConverged("web")
	away.expectGreeting("good morning")
	a.expectKept(kept, "v1", "ConfigMap", "web")
	a.now("what was recorded stays so", recorded)
}

// hubAsMember: nothing on which the hub stands is deleted, whatever a layer says.
func hubAsMember(a *arena) {
	hub := a.registerSecret("hub", a.fleet.Hub(), nil)
	a.awaitReady("hub")
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  sync: {pruneCascading: true}
  manifests:
  - {apiVersion: v1, kind: Namespace, metadata: {name: $NS, labels: {kept: "yes"}}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: syncline-system, labels: {kept: "yes"}}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: $NS-shop}}
  - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: layers.syncline.dev, labels: {kept: "yes"}}}
  - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: clusters.cluster.x-k8s.io, labels: {kept: "yes"}}}
`)
	a.awaitConverged("app")
	const definition = "apiextensions.k8s.io/v1"
	stands := map[[2]string]string{
		{"v1", a.namespace}: "Namespace", {"v1", install.Namespace}: "Namespace",
		{definition, "layers.syncline.dev"}: "CustomResourceDefinition", {definition, "clusters.cluster.x-k8s.io"}: "CustomResourceDefinition",
	}
	since := hub.cluster.Audit().End()
	a.removeLayer("app")
	a.awaitNoLayer()
	a.now("the hub stands, and the rest is gone", func(g gomega.Gomega) {
		hub.lacks(g, "v1", "Namespace", a.namespace+"-shop")
		for object, kind := range stands {
			hub.expectNotOurs(g, object[0], kind, object[1])
		}
		g.Expect(hub.deletes(g, since)).To(gomega.HaveLen(1))
	})
	for object, kind := range stands {
		a.awaitEvent("app", "hub", "LeftBehind", kind+" "+object[1])
	}
}
