package e2e

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

const patched = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: patches}
spec:
  order: 200
  clusterSelector: {}
  patches:
  - target: {kind: ConfigMap, name: web}
    jsonPatch: [{op: replace, path: $PATH, value: moin}]
  - target: {kind: ConfigMap, name: other}
    jsonPatch: [{op: add, path: /data/added, value: "yes"}]
`

func TestF46PatchOnAMissingPathHoldsThatObjectAlone(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "web")

	a.apply(patched, "$PATH", "/data/gruss")
	a.awaitProblem("patches", "eu", complaint{"PatchFailed", []string{
		"ConfigMap " + a.namespace + "/web", "patches[0].jsonPatch[0]", "/data/gruss", "correct it, or take the operation out",
	}})
	a.eventually("the other object has its patch", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "other")).To(gomega.HaveKeyWithValue("added", "yes"))
	})
	a.now("the object is as it was", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "hello"}))
	})
	a.eventually("both layers say that they are not in effect as a whole", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "patches", "eu").Status.Ready).To(gomega.Equal("1/2"))
		g.Expect(a.binding(g, "web", "eu").Status.State).NotTo(gomega.Equal(v1alpha1.StateConverged), "web has a part in the object")
	})
	a.expectKept(kept, "v1", "ConfigMap", "web")

	a.apply(patched, "$PATH", "/data/greeting")
	a.awaitConverged("patches", "web")
	eu.expectGreeting("moin")
	a.expectKept(kept, "v1", "ConfigMap", "web")
}

func TestF46EditedAndThenDeletedOverrideFallsBack(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.apply(patched, "$PATH", "/data/greeting")
	a.awaitConverged("web", "patches")
	a.expectGreeting("moin")
	kept := a.uids("v1", "ConfigMap", "web")

	a.apply(patched, "$PATH", "/data/greeting", "value: moin", "value: servus")
	a.expectGreeting("servus")
	a.removeLayer("patches")
	a.expectGreeting("hello")
	a.eventually("nothing of the patches is left", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.data(g, "other")).To(gomega.Equal(map[string]string{"a": "b"}))
		}
	})
	a.awaitConverged("web")
	a.expectKept(kept, "v1", "ConfigMap", "web")
}
