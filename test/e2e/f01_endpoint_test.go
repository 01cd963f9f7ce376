package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/fleet"
)

// startProxy starts a proxy in front of a member's API server. Whoever wants a test's
// clean-up to pass through it starts it before the arena.
func startProxy(t *testing.T, cluster *fleet.Cluster) *fleet.Proxy {
	t.Helper()
	proxy, err := cluster.StartProxy()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return proxy
}

// must is what makes a kubeconfig, or the end of the test.
func must(t *testing.T) func([]byte, error) []byte {
	return func(kubeconfig []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return kubeconfig
	}
}

// rotate puts another kubeconfig into a member's Secret.
func (a *arena) rotate(member string, kubeconfig []byte) {
	a.Helper()
	secret := &corev1.Secret{ObjectMeta: a.onHub(member + "-kubeconfig")}
	if err := a.hub.Get(a.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		a.Fatal(err)
	}
	secret.Data["value"] = kubeconfig
	if err := a.hub.Update(a.Context(), secret); err != nil {
		a.Fatal(err)
	}
}

// A member moves to another address while its old one dies. Not beside other tests: it
// measures.
func TestF01NewEndpointIsFollowed(t *testing.T) {
	const limit = 2 * time.Second
	cluster := shared.Member("eu")
	old, moved := startProxy(t, cluster), startProxy(t, cluster)
	a := emptyArena(t, shared, nameFor(t))
	a.interval = 20 * time.Millisecond
	eu := a.registerWith("eu", cluster, must(t)(old.KubeconfigFor("f01-old", "system:masters")))
	a.awaitReady("eu")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	next := must(t)(moved.KubeconfigFor("f01-moved", "system:masters"))
	since := cluster.Audit().End()
	if err := old.Cut(); err != nil {
		t.Fatal(err)
	}
	a.rotate("eu", next)
	begin := time.Now()
	a.apply(webLayer, "$GREETING", "good morning")
	eu.expectGreeting("good morning")
	took := time.Since(begin)
	t.Logf("served at the new address %s after the Secret changed", took)
	if took > limit {
		t.Errorf("served at the new address after %s, want %s", took, limit)
	}
	a.awaitConverged("web")
	a.awaitReady("eu")
	a.now("by the new user, whose view the status is, too", func(g gomega.Gomega) {
		events, _, err := cluster.Audit().Events(since, eu.ours, fleet.ByUserAgent("syncline"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(events).NotTo(gomega.BeEmpty())
		for _, event := range events {
			// What was under way at the old address may have been answered, to nobody.
			if fleet.Writes(&event) {
				g.Expect(event.User.Username).To(gomega.Equal("f01-moved"), "%s %s", event.Verb, event.RequestURI)
			}
		}
	})
}
