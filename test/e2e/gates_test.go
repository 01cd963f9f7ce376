package e2e

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// above is a layer over the others.
const above = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: above}
spec:
  order: 200
  clusterSelector: {}
  approval: $APPROVAL
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: above, namespace: $NS}
    data: {greeting: $GREETING}
`

// awaitHeldBack waits until a member is not given the newest revision, and it is said why.
func (a *arena) awaitHeldBack(layer, member string, phase v1alpha1.Phase, says ...string) {
	a.Helper()
	newest := a.wanted(layer)
	a.eventually(fmt.Sprintf("%s is %s on %s", layer, phase, member), func(g gomega.Gomega) {
		status := a.binding(g, layer, member).Status
		g.Expect(status.Phase).To(gomega.Equal(phase), "%s: %s", status.State, status.Message)
		g.Expect(status.Revision).NotTo(gomega.Equal(newest))
		for _, text := range append(says, newest) {
			g.Expect(status.Message).To(gomega.ContainSubstring(text))
		}
	})
}

// synclinectl runs a command of synclinectl that must succeed.
func (a *arena) synclinectl(args ...string) {
	a.Helper()
	cmd := exec.CommandContext(a.Context(), product.Program("synclinectl"),
		append([]string{"--kubeconfig=" + a.fleet.Hub().KubeconfigPath()}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		a.Fatalf("synclinectl %v: %v\n%s", args, err, out)
	}
}

// What stands above a Strict layer waits until that has converged on the member.
func TestLayersAboveAStrictOneWait(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	strict := []string{"$NAME", "base", "$FALLBACK", "Hold", "$TIMEOUT", "2m", "order: 100", "order: 100\n  consistency: Strict"}
	a.apply(deadlined, append(strict, "$CPU", fits, "$EXTRA", "good")...)
	a.apply(above, "$APPROVAL", "Automatic", "$GREETING", "one")
	a.awaitConverged("base", "above")

	a.apply(deadlined, append(strict, "$CPU", neverUp, "$EXTRA", "bad")...)
	for _, s := range a.sites {
		a.eventually("the Strict layer is on its way on "+s.name, func(g gomega.Gomega) {
			s.object(g, "v1", "ConfigMap", "base-bad")
		})
	}
	a.apply(above, "$APPROVAL", "Automatic", "$GREETING", "two")
	a.awaitHeldBack("above", "eu", v1alpha1.PhasePending, "Strict", "base")
	a.awaitHeldBack("above", "us", v1alpha1.PhasePending, "Strict", "base")
	a.throughout(3*time.Second, "members keep what they have", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.data(g, "above")).To(gomega.HaveKeyWithValue("greeting", "one"))
		}
		g.Expect(isConverged(a.layer(g, "above"))).To(gomega.BeFalse())
	})
	a.apply(deadlined, append(strict, "$CPU", fits, "$EXTRA", "good")...)
	a.awaitConverged("base", "above")
	a.now("members have the newer one", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.data(g, "above")).To(gomega.HaveKeyWithValue("greeting", "two"))
		}
	})
}

// A revision waits for a person's word, and what a person returned to stays until the layer is
// changed.
func TestApprovalAndRollbackByPeople(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu, layer := a.site("eu"), a.namespace+"/above"
	says := func(greeting string) func(gomega.Gomega) {
		return func(g gomega.Gomega) {
			g.Expect(eu.data(g, "above")).To(gomega.HaveKeyWithValue("greeting", greeting))
		}
	}
	a.apply(above, "$APPROVAL", "Manual", "$GREETING", "one")
	a.awaitHeldBack("above", "eu", v1alpha1.PhaseAwaitingApproval, "synclinectl approve")
	a.now("the member has nothing of it", func(g gomega.Gomega) { eu.lacks(g, "v1", "ConfigMap", "above") })
	first := a.wanted("above")
	a.synclinectl("approve", layer)
	a.awaitConverged("above")
	says("one")(gomega.NewWithT(t))

	a.apply(above, "$APPROVAL", "Manual", "$GREETING", "two")
	a.awaitHeldBack("above", "eu", v1alpha1.PhaseAwaitingApproval, "synclinectl approve")
	a.throughout(2*time.Second, "the member keeps what it has", says("one"))
	second := a.wanted("above")
	a.synclinectl("approve", layer, "--revision", second)
	a.eventually("the member has the approved revision", says("two"))
	a.awaitConverged("above")

	a.patch(a.emptyLayer("above"), fmt.Sprintf(`{"metadata":{"annotations":{%q:"above-nowhere instead of %s by hand"}}}`, v1alpha1.AnnotationRollback, second))
	a.awaitUnrendered("above", complaint{"UnknownRevision", []string{v1alpha1.AnnotationRollback, "above-nowhere", first}})
	says("two")(gomega.NewWithT(t))

	a.synclinectl("rollback", layer)
	a.eventually("the member has the earlier revision", says("one"))
	a.eventually("who and when is told", func(g gomega.Gomega) {
		status := a.layer(g, "above").LayerStatus()
		g.Expect(status.RolledBack.Revision).To(gomega.Equal(first))
		g.Expect(status.RolledBack.From).To(gomega.Equal(second))
		g.Expect(status.RolledBack.By).NotTo(gomega.BeEmpty())
		g.Expect(status.RolledBack.At.IsZero()).To(gomega.BeFalse())
	})
	a.apply(above, "$APPROVAL", "Automatic", "$GREETING", "three")
	a.eventually("a newer revision goes as usual", says("three"))
	a.awaitConverged("above")
}
