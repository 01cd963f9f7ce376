package e2e

import (
	"os/exec"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// A member's API server is stopped: it refuses connections, and those that were open end.
func TestF10StoppedServerIsUnknown(t *testing.T) {
	t.Parallel()
	proxy := startProxy(t, shared.Member("us"))
	a := emptyArena(t, shared, nameFor(t))
	us := a.registerWith("us", shared.Member("us"), must(t)(proxy.Kubeconfig()))
	a.awaitReady("us")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	if err := proxy.Cut(); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	a.within(20*time.Second, "everything says Unknown, and since when", func(g gomega.Gomega) {
		status := a.member(g, "us").Status
		reachable := condition(status.Conditions, v1alpha1.ConditionReachable)
		g.Expect(reachable.Status).To(gomega.Equal(metav1.ConditionFalse))
		g.Expect(reachable.Message).To(gomega.HaveSuffix(proxy.Address() + " refuses connections"))
		g.Expect(status.LastSeen).NotTo(gomega.BeNil())
		g.Expect(status.LastSeen.Time).To(gomega.BeTemporally("~", stopped, 10*time.Second))
		binding := a.binding(g, "web", "us").Status
		g.Expect(binding.State).To(gomega.Equal(v1alpha1.StateUnknown))
		g.Expect(binding.Message).To(gomega.ContainSubstring("last seen at " + status.LastSeen.UTC().Format(time.RFC3339)))
		g.Expect(a.layer(g, "web").LayerStatus().State).To(gomega.Equal(v1alpha1.StateUnknown))
	})
	t.Logf("Unknown %s after it stopped", time.Since(stopped).Round(time.Second))
	out, err := exec.CommandContext(t.Context(), product.Program("synclinectl"),
		"--kubeconfig="+a.fleet.Hub().KubeconfigPath(), "status", "--namespace="+a.namespace).CombinedOutput()
	gomega.NewWithT(t).Expect(string(out)).To(gomega.And(
		gomega.ContainSubstring("refuses connections"), gomega.ContainSubstring("last seen")), "synclinectl status: %v", err)

	a.apply(webLayer, "$GREETING", "good morning")
	if err := proxy.Heal(); err != nil {
		t.Fatal(err)
	}
	us.expectGreeting("good morning")
	a.awaitReady("us")
	a.awaitConverged("web")
}
