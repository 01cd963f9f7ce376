package e2e

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// fromConfigMap is a layer that reads its manifests from a ConfigMap.
const fromConfigMap = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  manifestsFrom:
  - configMap: {name: $SOURCE}
`

const webManifests = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web-manifests}
data:
  web.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, namespace: $NS}
    data: {greeting: $GREETING}
`

func TestConfigMapThatDoesNotParse(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webManifests, "$GREETING", "hello")
	a.apply(fromConfigMap, "$SOURCE", "web-manifests")
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "web")

	a.apply(webManifests, "$GREETING}", "hello")
	a.awaitUnrendered("web", complaint{"InvalidManifest", []string{
		"ConfigMap " + a.namespace + "/web-manifests", "web.yaml", "document 1", "line ",
	}})
	a.expectKept(kept, "v1", "ConfigMap", "web")

	a.apply(webManifests, "$GREETING", "good morning")
	a.expectGreeting("good morning")
	a.awaitConverged("web")
	a.expectKept(kept, "v1", "ConfigMap", "web")
}

func TestMissingConfigMap(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "web")

	const both = webLayer + `
  manifestsFrom:
  - configMap: {name: late}
`
	a.apply(both, "$GREETING", "good morning")
	a.awaitUnrendered("web", complaint{"SourceNotFound", []string{
		"ConfigMap " + a.namespace + "/late", "spec.manifestsFrom[0]", "Layer " + a.namespace + "/web", "create it or remove the entry",
	}})
	a.expectGreeting("hello") // a half of a layer is no layer
	a.expectKept(kept, "v1", "ConfigMap", "web")

	a.apply(webManifests, "name: web-manifests", "name: late", "name: web,", "name: late,", "$GREETING", "late")
	a.expectGreeting("good morning")
	a.eventually("what the ConfigMap holds is on all members", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.data(g, "late")).To(gomega.HaveKeyWithValue("greeting", "late"))
		}
	})
	a.awaitConverged("web")

	// A source that goes again takes nothing along.
	a.remove(&corev1.ConfigMap{ObjectMeta: a.onHub("late")})
	a.awaitUnrendered("web", complaint{reason: "SourceNotFound"})
	a.expectKept(kept, "v1", "ConfigMap", "web")
	a.now("what came from it stays", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.object(g, "v1", "ConfigMap", "late")
		}
	})
}

func TestLayerThatBecameEmpty(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "web")

	head, _, _ := strings.Cut(webLayer, "  manifests:")
	a.apply(head)
	a.awaitUnrendered("web", complaint{"Empty", []string{"Layer " + a.namespace + "/web", "Delete the layer to remove its objects"}})
	a.expectKept(kept, "v1", "ConfigMap", "web")
	a.now("members have what they had, and it is kept", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(a.binding(g, "web", s.name).Status.Inventory).To(gomega.HaveLen(1))
		}
	})
	a.site("eu").delete("v1", "ConfigMap", "web")
	a.expectGreeting("hello")
}

func TestSelectorThatCannotBeRead(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "web")

	a.apply(webLayer, "$GREETING", "hello", "clusterSelector: {}",
		"clusterSelector: {matchExpressions: [{key: region, operator: Foo, values: [eu]}]}")
	a.eventually("the layer has been looked at", func(g gomega.Gomega) {
		l := a.layer(g, "web")
		g.Expect(l.LayerStatus().ObservedGeneration).To(gomega.Equal(l.GetGeneration()))
	})
	a.throughout(quiet/4, "nothing is deleted", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.object(g, "v1", "ConfigMap", "web")
		}
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.HaveLen(len(a.sites)))
	})
	a.expectKept(kept, "v1", "ConfigMap", "web")
	a.eventually("the layer complains of its selector, and has not converged", func(g gomega.Gomega) {
		l := a.layer(g, "web")
		g.Expect(isConverged(l)).To(gomega.BeFalse())
		g.Expect(condition(l.LayerStatus().Conditions, v1alpha1.ConditionStalled).Message).To(gomega.SatisfyAll(
			gomega.ContainSubstring("spec.clusterSelector"), gomega.ContainSubstring("Foo")))
		g.Expect(l.LayerStatus().State).To(gomega.Equal(v1alpha1.StateDegraded))
	})
}
