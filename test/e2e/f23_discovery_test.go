package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// noDiscovery answers questions about what is served by 503, and leaves the rest.
func noDiscovery(w http.ResponseWriter, r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	is := parts[0] == "api" && len(parts) <= 2 || parts[0] == "apis" && len(parts) <= 3
	if is {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return is
}

// A member does not say what it serves. What it last said holds; what it never said is
// waited for; nothing is taken for gone.
func TestF23DiscoveryThatFailsDeletesNothing(t *testing.T) {
	t.Parallel()
	a, gate, eu := behindGateway(t)
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "other")
	since := eu.cluster.Audit().End()

	gate.answers(noDiscovery)
	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", other)
	a.expectGreeting("good morning")
	a.awaitConverged("web")
	a.apply(deploymentLayer) // of a kind that nobody has asked for yet
	a.eventually("the new kind is waited for", func(g gomega.Gomega) {
		status := a.binding(g, "app", "eu").Status
		g.Expect(status.State).NotTo(gomega.Equal(v1alpha1.StateConverged))
		g.Expect(status.Message).To(gomega.ContainSubstring("code 503"))
	})
	a.throughout(10*time.Second, "what is there stays, and counts", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "eu").Status.State).To(gomega.Equal(v1alpha1.StateConverged))
		g.Expect(eu.deletes(g, since)).To(gomega.BeEmpty())
	})
	a.expectKept(kept, "v1", "ConfigMap", "other")

	gate.answers(nil)
	a.awaitConverged("web", "app")
	a.expectKept(kept, "v1", "ConfigMap", "other")
	a.now("nothing was deleted", func(g gomega.Gomega) { g.Expect(eu.deletes(g, since)).To(gomega.BeEmpty()) })
}
