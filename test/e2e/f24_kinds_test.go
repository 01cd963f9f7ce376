package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// gadgets defines a kind of the test's own.
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.$NS.example.com, labels: {e2e: $NS}}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
`

// gadgetLayer holds an object of that kind, and one of another.
const gadgetLayer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: gadgets}
spec:
  order: 100
  clusterSelector: {}
  sync: {pruneCascading: true}
  manifests:
  - apiVersion: $NS.example.com/v1
    kind: Gadget
    metadata: {name: one, namespace: $NS}
    spec: {ports: [{name: http, port: 80}, {name: https, port: 443}]}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: hello}}
`

func TestF24DefinitionAndItsObjectInOneLayer(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	// The definition stands behind what needs it, and is indented as a list's entry.
	a.apply(gadgetLayer + "  - " + indented(replaced(gadgets, "\napiVersion", "apiVersion"), "    "))
	a.awaitConverged("gadgets")

	// An upper layer meets the list by the keys that the definition gives it.
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: region}
spec:
  order: 200
  clusterSelector: {matchLabels: {region: eu}}
  manifests:
  - apiVersion: $NS.example.com/v1
    kind: Gadget
    metadata: {name: one, namespace: $NS}
    spec: {ports: [{name: https, port: 8443}]}
`)
	a.awaitConvergedOn("region", 1)
	a.now("one port is overridden, on one member", func(g gomega.Gomega) {
		for name, https := range map[string]int{"eu": 8443, "us": 443} {
			gadget := a.site(name).object(g, a.namespace+".example.com/v1", "Gadget", "one")
			ports, _ := at(gadget, "spec", "ports").([]any)
			g.Expect(ports).To(gomega.HaveLen(2))
			g.Expect(ports[1]).To(gomega.HaveKeyWithValue("port", gomega.BeEquivalentTo(https)), name)
		}
	})

	// All of it goes again, the definition last.
	a.removeLayer("region")
	a.removeLayer("gadgets")
	a.eventually("nothing is left", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.lacks(g, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets."+a.namespace+".example.com")
		}
	})
}

func TestF24KindThatOneMemberLacks(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	eu, us := a.site("eu"), a.site("us")
	eu.apply("somebody", gadgets)
	a.apply(gadgetLayer)

	a.eventually("the other member is not held up", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "gadgets", "eu").Status.State).To(gomega.Equal(v1alpha1.StateConverged))
		eu.object(g, a.namespace+".example.com/v1", "Gadget", "one")
	})
	us.expectGreeting("hello") // nor is the rest of the layer
	a.awaitProblem("gadgets", "us", complaint{"KindNotServed", []string{
		"Gadget " + a.namespace + "/one", a.namespace + ".example.com/v1", "install its CustomResourceDefinition or remove the object",
	}})
	a.eventually("the layer says how far it is", func(g gomega.Gomega) {
		g.Expect(a.layer(g, "gadgets").LayerStatus().Converged).To(gomega.Equal("1/2"))
		g.Expect(a.binding(g, "gadgets", "us").Status.Ready).To(gomega.Equal("1/2"))
	})

	us.apply("somebody", gadgets)
	a.within(70*time.Second, "the layer recovers by itself", func(g gomega.Gomega) {
		g.Expect(isConverged(a.layer(g, "gadgets"))).To(gomega.BeTrue())
	})
	a.now("the object is there", func(g gomega.Gomega) {
		us.object(g, a.namespace+".example.com/v1", "Gadget", "one")
	})
}

// A definition that a patch cannot be applied to is held, and what stands on it with it.
// Whatever else is cluster-scoped is no concern of its.
func TestHeldDefinitionHoldsItsOwnObjectsOnly(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(gadgetLayer + "  - " + indented(replaced(gadgets, "\napiVersion", "apiVersion"), "    ") + `
  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS}, rules: []}
  patches:
  - target: {kind: CustomResourceDefinition}
    jsonPatch: [{op: replace, path: /spec/nothing/here, value: 1}]
`)
	a.awaitProblem("gadgets", "eu", complaint{"PatchFailed", []string{
		"CustomResourceDefinition gadgets." + a.namespace + ".example.com", "patches[0].jsonPatch[0]", "/spec/nothing/here",
	}})
	a.site("eu").expectGreeting("hello")
	a.eventually("another cluster-scoped object is applied", func(g gomega.Gomega) {
		a.site("eu").object(g, "rbac.authorization.k8s.io/v1", "ClusterRole", a.namespace)
	})
}
