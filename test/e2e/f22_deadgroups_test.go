package e2e

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/test/fleet"
)

// deadService promises a group that nobody serves.
const deadService = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.dead.$NS.example.com}
spec:
  group: dead.$NS.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: $NS, name: nobody, port: 443}
`

// converted defines a kind whose versions are converted by somebody who is not there.
const converted = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lathes.turned.$NS.example.com, labels: {e2e: $NS}}
spec:
  group: turned.$NS.example.com
  scope: Namespaced
  names: {plural: lathes, singular: lathe, kind: Lathe}
  conversion: $CONVERSION
  versions:
  - {name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: *any}
`

const byNobody = `{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert"}}}`

const deadLayer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: dead}
spec:
  order: 200
  clusterSelector: {}
  manifests:
  - {apiVersion: dead.$NS.example.com/v1, kind: Ghost, metadata: {name: one, namespace: $NS}}
`

const turnedLayer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: turned}
spec:
  order: 300
  clusterSelector: {}
  manifests:
  - {apiVersion: turned.$NS.example.com/v2, kind: Lathe, metadata: {name: one, namespace: $NS}, spec: {axes: 3}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: beside, namespace: $NS}, data: {a: b}}
`

// An aggregated API without a server, and a kind whose conversion webhook is down: whoever
// uses them hears of it, and nobody else does. The cluster is the test's own: while a group
// is dead, no namespace can be deleted.
func TestF22DeadGroupsHoldNoOther(t *testing.T) {
	t.Parallel()
	addMember(t, fleet.Member{Name: "maimed"})
	a := newArena(t, "maimed")
	maimed := a.site("maimed")
	definition := func(conversion string) string {
		return replaced(converted, "$NS", a.namespace, "$CONVERSION", conversion)
	}
	maimed.apply("somebody", replaced(deadService, "$NS", a.namespace))
	maimed.apply("somebody", definition(byNobody))
	a.apply(deadLayer)
	a.apply(turnedLayer)
	a.apply(webLayer, "$GREETING", "hello")

	a.awaitConverged("web")
	a.awaitProblem("dead", "maimed", complaint{"ServerError", []string{"Ghost " + a.namespace + "/one", "code 503"}})
	a.awaitProblem("turned", "maimed", complaint{"ServerError", []string{"Lathe " + a.namespace + "/one", "code 500"}})
	a.now("the rest of the layer is there", func(g gomega.Gomega) { maimed.object(g, "v1", "ConfigMap", "beside") })
	a.apply(webLayer, "$GREETING", "good morning")
	a.expectGreeting("good morning")
	a.awaitConverged("web")
	a.awaitReady("maimed")

	// What is put right is taken up.
	maimed.apply("somebody", definition("{strategy: None}"))
	a.awaitConverged("turned")
	maimed.delete("apiregistration.k8s.io/v1", "APIService", "v1.dead."+a.namespace+".example.com")
	a.awaitProblem("dead", "maimed", complaint{"KindNotServed", []string{"Ghost " + a.namespace + "/one"}})
}
