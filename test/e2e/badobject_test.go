package e2e

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// besideWeb is a layer with the ConfigMap of webLayer and something else.
const besideWeb = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: $GREETING}}
  - $MORE
`

const other = `{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}, data: {a: b}}`

// An object at fault is reported; the layer's other objects go on, and what is on members
// stays.
func TestObjectAtFaultHoldsNoOther(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		object string
		complaint
	}{
		"F45 generateName": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {generateName: other-, namespace: $NS}}`,
			complaint{"GenerateName", []string{"ConfigMap", "manifests[1].metadata.generateName", "set metadata.name instead"}},
		},
		"F45 empty name": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: "", namespace: $NS}}`,
			complaint{"EmptyName", []string{"ConfigMap", "manifests[1].metadata.name", "must be set"}},
		},
		"not an object": {
			`{apiVersion: v1, kind: "", metadata: {name: other, namespace: $NS}}`,
			complaint{"InvalidManifest", []string{"manifests[1].kind", "must name a kind"}},
		},
		"refused by the server": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}, data: {"not a key": b}}`,
			complaint{"Invalid", []string{"ConfigMap $NS/other", "data[not a key]", "must consist of alphanumeric characters"}},
		},
		"a field that does not exist": {
			`{apiVersion: v1, kind: Service, metadata: {name: other, namespace: $NS}, spec: {prots: [{port: 80}]}}`,
			complaint{"Invalid", []string{"Service $NS/other", "spec.prots"}},
		},
		// What the server cannot even decode it answers with a code 500.
		"a quantity that is none": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: other, namespace: $NS}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a, resources: {limits: {cpu: lots}}}]}}}}`,
			complaint{"Invalid", []string{"Deployment $NS/other", "quantities must match"}},
		},
		"binary data that is not base64": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}, binaryData: {a: "not!base64"}}`,
			complaint{"Invalid", []string{"ConfigMap $NS/other", "illegal base64"}},
		},
		"a value of a wrong type": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}, data: {a: 1}}`,
			complaint{"TypeMismatch", []string{"ConfigMap $NS/other", "data.a", "must be a string (quote it)"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, "eu")
			a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
			a.awaitConverged("web")
			kept := a.uids("v1", "ConfigMap", "other")

			a.apply(besideWeb, "$GREETING", "good morning", "$MORE", tc.object)
			for i := range tc.says {
				tc.says[i] = replaced(tc.says[i], "$NS", a.namespace)
			}
			a.awaitProblem("web", "eu", tc.complaint)
			a.expectGreeting("good morning")
			if !strings.Contains(tc.object, "kind: Service") && !strings.Contains(tc.object, "kind: Deployment") {
				// The layer holds the object as before, or what cannot be identified might be it.
				a.expectKept(kept, "v1", "ConfigMap", "other")
			}

			a.apply(besideWeb, "$GREETING", "good night", "$MORE", other)
			a.expectGreeting("good night")
			a.awaitConverged("web")
			a.now("no complaint is left", func(g gomega.Gomega) {
				g.Expect(a.binding(g, "web", "eu").Status.Problems).To(gomega.BeEmpty())
			})
		})
	}
}

func TestOneObjectInTwoVersions(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	const layer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: $LAYER}
spec:
  order: $ORDER
  clusterSelector: {}
  manifests:
  - apiVersion: autoscaling/$VERSION
    kind: HorizontalPodAutoscaler
    metadata: {name: web, namespace: $NS}
    spec: {$SPEC}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: $LAYER, namespace: $NS}, data: {greeting: $GREETING}}
`
	a.apply(layer, "$LAYER", "base", "$ORDER", "100", "$VERSION", "v1", "$GREETING", "hello",
		"$SPEC", "maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}")
	a.awaitConverged("base")
	kept := a.uids("autoscaling/v2", "HorizontalPodAutoscaler", "web")

	a.apply(layer, "$LAYER", "web", "$ORDER", "200", "$VERSION", "v2", "$SPEC", "maxReplicas: 5", "$GREETING", "hello")
	a.awaitProblem("web", "eu", complaint{"VersionMismatch", []string{
		"HorizontalPodAutoscaler " + a.namespace + "/web", "manifests[0].apiVersion",
		"autoscaling/v2", "autoscaling/v1", "layer " + a.namespace + "/base", "write both in one version",
	}})
	a.expectGreeting("hello")
	a.expectKept(kept, "autoscaling/v2", "HorizontalPodAutoscaler", "web")
	a.now("the object is as it was", func(g gomega.Gomega) {
		hpa := a.site("eu").object(g, "autoscaling/v2", "HorizontalPodAutoscaler", "web")
		g.Expect(at(hpa, "spec", "maxReplicas")).To(gomega.BeEquivalentTo(3))
	})
	a.eventually("the lower layer is no longer said to have converged", func(g gomega.Gomega) {
		g.Expect(a.layer(g, "base").LayerStatus().State).NotTo(gomega.Equal(v1alpha1.StateConverged), "base has a part in the object")
	})

	a.apply(layer, "$LAYER", "web", "$ORDER", "200", "$VERSION", "v1", "$SPEC", "maxReplicas: 5", "$GREETING", "hello")
	a.awaitConverged("web", "base")
	a.now("the upper layer is in effect", func(g gomega.Gomega) {
		hpa := a.site("eu").object(g, "autoscaling/v2", "HorizontalPodAutoscaler", "web")
		g.Expect(at(hpa, "spec", "maxReplicas")).To(gomega.BeEquivalentTo(5))
	})
	a.expectKept(kept, "autoscaling/v2", "HorizontalPodAutoscaler", "web")
}
