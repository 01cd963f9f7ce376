package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// mutation is a policy that changes what is admitted to the test's namespace on a member, as
// a mutating webhook would. The end of the test removes it.
const mutation = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS}
spec:
  reinvocationPolicy: IfNeeded
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: '$EXPRESSION'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS}
`

// admit sets up a mutation on the member, and waits until it is in effect for Deployments.
func (s *site) admit(expression string, inEffect func(*unstructured.Unstructured) bool) {
	a := s.arena
	a.Helper()
	s.apply("administrator", replaced(mutation, "$EXPRESSION", expression))
	a.Cleanup(func() {
		ctx, cancel := afterTest()
		defer cancel()
		for _, o := range []client.Object{&admissionv1.MutatingAdmissionPolicyBinding{}, &admissionv1.MutatingAdmissionPolicy{}} {
			a.discard(ctx, s.client, o, client.MatchingLabels{labelArena: a.namespace})
		}
	})
	a.eventually("the mutation is in effect on "+s.name, func(g gomega.Gomega) {
		probe := a.read(s.client, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: probe}
spec:
  replicas: 2
  selector: {matchLabels: {app: probe}}
  template: {metadata: {labels: {app: probe}}, spec: {containers: [{name: app, image: app}]}}
`)[0]
		g.Expect(s.client.Create(a.Context(), probe, client.DryRunAll)).To(gomega.Succeed())
		g.Expect(inEffect(probe)).To(gomega.BeTrue())
	})
}

func TestF34WhatAWebhookAddsIsNoDrift(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	eu.admit(`Object{
		metadata: Object.metadata{labels: {"injected": "yes"}},
		spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
			Object.spec.template.spec.containers{name: "app", env: [Object.spec.template.spec.containers.env{name: "INJECTED", value: "1"}]},
			Object.spec.template.spec.containers{name: "sidecar", image: "sidecar"}]}}}}`,
		func(u *unstructured.Unstructured) bool { return u.GetLabels()["injected"] == "yes" })

	injected := func(g gomega.Gomega, image string) {
		app := eu.object(g, "apps/v1", "Deployment", "app")
		containers, _ := at(app, "spec", "template", "spec", "containers").([]any)
		g.ExpectWithOffset(1, containers).To(gomega.ConsistOf(
			gomega.And(gomega.HaveKeyWithValue("image", image), gomega.HaveKeyWithValue("env", gomega.HaveLen(2))),
			gomega.HaveKeyWithValue("name", "sidecar"),
		))
		g.ExpectWithOffset(1, app.GetLabels()).To(gomega.HaveKeyWithValue("injected", "yes"))
		g.ExpectWithOffset(1, a.binding(g, "app", "eu").Status.Problems).To(gomega.BeEmpty())
	}
	a.apply(deploymentLayer)
	a.awaitConverged("app")
	a.now("the additions are there", func(g gomega.Gomega) { injected(g, "app") })
	eu.expectSilence()

	a.apply(deploymentLayer, "image: app", "image: app:2")
	a.awaitConverged("app")
	a.now("the change is there, and the additions are too", func(g gomega.Gomega) { injected(g, "app:2") })
}

func TestF34WebhookThatRevertsAValueIsReported(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	eu.admit(`Object{spec: Object.spec{replicas: 1}}`,
		func(u *unstructured.Unstructured) bool { return at(u, "spec", "replicas") == int64(1) })

	overruled := complaint{"Overruled", []string{"Deployment " + a.namespace + "/app", "spec.replicas", "admission webhook"}}
	a.apply(deploymentLayer)
	a.awaitProblem("app", "eu", overruled)
	a.eventually("what the member made of it runs, and is still looked at", func(g gomega.Gomega) {
		app := eu.object(g, "apps/v1", "Deployment", "app")
		g.Expect(at(app, "status", "availableReplicas")).To(gomega.BeEquivalentTo(1))
	})
	eu.expectSilence()

	// What others do to it is mended all the same.
	eu.apply("vandal", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec: {template: {spec: {containers: [{name: app, image: graffiti}]}}}
`)
	a.eventually("the image is back", func(g gomega.Gomega) {
		containers, _ := at(eu.object(g, "apps/v1", "Deployment", "app"), "spec", "template", "spec", "containers").([]any)
		g.Expect(containers).To(gomega.ConsistOf(gomega.HaveKeyWithValue("image", "app")))
	})
	a.awaitProblem("app", "eu", overruled)
	eu.expectSilence()

	// Mended on the member, an edit is tried at once.
	for _, o := range []client.Object{
		&admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: a.namespace}},
		&admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: a.namespace}},
	} {
		a.now("take the mutation away", func(g gomega.Gomega) { g.Expect(eu.client.Delete(a.Context(), o)).To(gomega.Succeed()) })
	}
	edits := 0
	a.eventually("an edit gets through", func(g gomega.Gomega) {
		edits++
		a.apply(deploymentLayer, "value: plain", "value: edit-"+string(rune('a'+edits)))
		g.Eventually(func() v1alpha1.State { return a.binding(g, "app", "eu").Status.State }, moment).Should(gomega.Equal(v1alpha1.StateConverged))
	})
	a.awaitConverged("app")
	a.now("with the value that the layer sets", func(g gomega.Gomega) { g.Expect(eu.replicas(g, "app")).To(gomega.Equal(2)) })
}
