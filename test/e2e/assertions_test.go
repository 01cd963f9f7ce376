package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// asserting is a layer of a Deployment, with something that must be so.
const asserting = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  convergence:
    timeout: $TIMEOUT
    assertions:
    - name: most-run-it
      observe: {kind: Pod, namespace: $NS, labelSelector: app=web}
      expression: |
        size(objects) > 0 &&
        size(objects.filter(p, p.spec.containers[0].image == "$EXPECTED")) * 100 >= 95 * size(objects)
      message: |
        string(size(objects)) + " Pods of " + cluster.name
    - name: on-every-node
      expression: objects.all(o, o.kind == "Deployment" && o.status.readyReplicas == 2)
  manifests:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: $NS}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: web, image: "$IMAGE"}]}
`

// Healthy objects are not enough where a layer asserts more, and what it asserts is looked at
// live.
func TestAssertions(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(asserting, "$TIMEOUT", "2m", "$EXPECTED", "web:2.1", "$IMAGE", "web:2.1")
	a.awaitConverged("web")

	a.apply(asserting, "$TIMEOUT", "8s", "$EXPECTED", "web:2.2", "$IMAGE", "web:2.1")
	a.eventually("the assertion is named, and by its message", func(g gomega.Gomega) {
		status := a.binding(g, "web", "eu").Status
		converged := condition(status.Conditions, v1alpha1.ConditionConverged)
		g.Expect(converged.Reason).To(gomega.Equal("AssertionFailed"))
		g.Expect(status.Message).To(gomega.Equal("assertion most-run-it: 2 Pods of eu"))
		g.Expect(status.Ready).To(gomega.Equal("1/1"), "the objects themselves are well")
		g.Expect(isConverged(a.layer(g, "web"))).To(gomega.BeFalse())
	})
	// The content is the revision that converged: nothing is waited for, and a person is told.
	a.eventually("a person is told", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "eu").Status.State).To(gomega.Equal(v1alpha1.StateDegraded))
	})
	a.apply(asserting, "$TIMEOUT", "2m", "$EXPECTED", "web:2.2", "$IMAGE", "web:2.2")
	a.awaitConverged("web")
}

// An assertion that fails at the deadline has the layer fall back as an object would.
func TestAssertionAtTheDeadline(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(asserting, "$TIMEOUT", "2m", "$EXPECTED", "web:2.1", "$IMAGE", "web:2.1")
	a.awaitConverged("web")
	good := a.wanted("web")
	a.apply(asserting, "$TIMEOUT", "8s\n    fallback: Rollback", "$EXPECTED", "web:2.1", "$IMAGE", "web:3.0")
	a.awaitOutcome("web", "eu", a.wanted("web"), v1alpha1.OutcomeRolledBack, "assertion most-run-it: 2 Pods of eu", good)
	a.eventually("the member has the good image", func(g gomega.Gomega) {
		containers := at(a.site("eu").object(g, "apps/v1", "Deployment", "web"), "spec", "template", "spec", "containers").([]any)
		g.Expect(containers[0].(map[string]any)["image"]).To(gomega.Equal("web:2.1"))
	})
}

// What cannot be told is neither true nor false.
func TestAssertionThatCannotBeTold(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(asserting, "$TIMEOUT", "2m", "$EXPECTED", "web:2.1", "$IMAGE", "web:2.1", "kind: Pod,", "kind: Widget, group: example.com,")
	a.eventually("it is said why", func(g gomega.Gomega) {
		status := a.binding(g, "web", "eu").Status
		g.Expect(condition(status.Conditions, v1alpha1.ConditionConverged).Reason).To(gomega.Equal("AssertionUnknown"))
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateProgressing))
		g.Expect(status.Message).To(gomega.ContainSubstring("assertion most-run-it: its objects cannot be read"))
	})
}

// What cannot be asked is refused with the place of the fault, and members keep what they have.
func TestWhatCannotBeAsked(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	good := []string{"$TIMEOUT", "2m", "$EXPECTED", "web:2.1", "$IMAGE", "web:2.1"}
	a.apply(asserting, good...)
	a.awaitConverged("web")
	first := a.wanted("web")
	a.apply(asserting, append([]string{"size(objects) > 0 &&", "size(pods) > 0 &&"}, good...)...)
	a.awaitUnrendered("web", complaint{"InvalidAssertion", []string{
		"spec.convergence.assertions[0].expression", `assertion "most-run-it"`, "column 6", "undeclared reference to 'pods'", "mend the expression",
	}})
	a.apply(asserting, append([]string{"order: 100", "order: 100\n  when: size(kinds"}, good...)...)
	a.awaitUnrendered("web", complaint{"InvalidWhen", []string{"spec.when", "column", "mend the expression, or remove it"}})
	a.now("the member keeps its revision", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "eu").Status.Revision).To(gomega.Equal(first))
	})
	for field, wrong := range map[string]string{
		"timeout":      "timeout: 0s",
		"pendingAfter": "timeout: 10s\n    pendingAfter: 20s",
		"fallback":     "fallback: Panic",
		"retries":      "retries: 0",
	} {
		err := a.tryApply(t.Context(), asserting, append([]string{"timeout: $TIMEOUT", wrong}, good...)...)
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is taken, or its refusal does not name the field: %v", wrong, err)
		}
	}
	a.apply(asserting, good...)
	a.awaitConverged("web")
}

// conditional is a layer that applies where its precondition is true.
const conditional = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: driver}
spec:
  order: 100
  clusterSelector: {}
  when: $WHEN
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: driver, namespace: $NS}
`

// A layer applies where its precondition is true, by what the member is: what it serves, and
// which nodes it has.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	for _, yes := range []string{
		`'cluster.version.minor > 20'`,
		`'"apps/v1/Deployment" in kinds && "v1/Pod" in kinds'`,
		`'nodes.exists(n, quantity(n.capacity["cpu"]) >= quantity("1"))'`,
	} {
		a.apply(conditional, "$WHEN", yes)
		a.awaitConverged("driver")
		a.eventually("the member has it by "+yes, func(g gomega.Gomega) { eu.object(g, "v1", "ConfigMap", "driver") })
	}
	a.apply(conditional, "$WHEN", `'nodes.exists(n, int(n.capacity["nvidia.com/gpu"]) > 0)'`)
	a.eventually("the layer does not apply, and is undone", func(g gomega.Gomega) {
		status := a.binding(g, "driver", "eu").Status
		converged := condition(status.Conditions, v1alpha1.ConditionConverged)
		g.Expect(converged.Reason).To(gomega.Equal("NotApplicable"), status.Message)
		g.Expect(status.Message).To(gomega.ContainSubstring("spec.when"))
		eu.lacks(g, "v1", "ConfigMap", "driver")
	})
	a.awaitConverged("driver")
	a.apply(conditional, "$WHEN", `'"example.com/v1/Gadget" in kinds || "apps/v1/Deployment" in kinds'`)
	a.eventually("it applies again", func(g gomega.Gomega) { eu.object(g, "v1", "ConfigMap", "driver") })
}

// ruled is a layer with a kind of its own, whose health it states.
const ruled = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: lamps}
spec:
  order: 100
  clusterSelector: {}
  convergence:
    health:
    - group: $NS.example.com
      kind: Lamp
      current: object.status.lit == true
      failed: object.status.broken == true
  manifests:
  - apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: lamps.$NS.example.com}
    spec:
      group: $NS.example.com
      scope: Namespaced
      names: {plural: lamps, singular: lamp, kind: Lamp, listKind: LampList}
      versions:
      - name: v1
        served: true
        storage: true
        schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - apiVersion: $NS.example.com/v1
    kind: Lamp
    metadata: {name: hall, namespace: $NS}
    spec: {color: red}
`

// The health of a kind that follows no convention is what its layer says, at its newest version.
func TestHealthRules(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	becomes := func(state v1alpha1.State, says string) {
		t.Helper()
		a.eventually("the lamp is "+string(state), func(g gomega.Gomega) {
			status := a.binding(g, "lamps", "eu").Status
			g.Expect(status.State).To(gomega.Equal(state), status.Message)
			g.Expect(status.Message).To(gomega.ContainSubstring(says))
		})
	}
	report := func(status string) {
		t.Helper()
		eu.apply("electrician", strings.ReplaceAll(`
apiVersion: $NS.example.com/v1
kind: Lamp
metadata: {name: hall, namespace: $NS}
status: $STATUS
`, "$STATUS", status))
	}
	a.apply(ruled)
	becomes(v1alpha1.StateProgressing, "is not current yet by its health rule")
	report("{lit: true}")
	becomes(v1alpha1.StateConverged, "")
	report("{lit: false, broken: true}")
	becomes(v1alpha1.StateDegraded, "has failed by its health rule")
	report("{lit: true, broken: false}")
	becomes(v1alpha1.StateConverged, "")
	a.awaitConverged("lamps")
	a.throughout(time.Second, "it stays so", func(g gomega.Gomega) {
		g.Expect(isConverged(a.layer(g, "lamps"))).To(gomega.BeTrue())
	})
}
