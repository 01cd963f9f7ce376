package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// sameCertificate states that the ConfigMap "ca" is the same on all members; $ACTION is to be
// given. Observations are short-lived, so that a test sees them renewed.
const sameCertificate = `
apiVersion: syncline.dev/v1alpha1
kind: StateAssertion
metadata: {name: same-certificate}
spec:
  values:
  - name: ca
    observe: {kind: ConfigMap, namespace: $NS, name: ca}
    expression: sha256(objects[0].data["ca.crt"])
  expression: members.all(m, members.all(n, members[m].values.ca == members[n].values.ca))
  message: '"the certificates of " + string(size(members)) + " members differ"'
  maxAge: 12s
  within: 2s
  fallback: {action: $ACTION, layers: [{kind: Layer, name: web}]}
`

// sameGreeting states that no member greets badly.
const sameGreeting = `
apiVersion: syncline.dev/v1alpha1
kind: StateAssertion
metadata: {name: good-greeting}
spec:
  values:
  - name: greeting
    observe: {kind: ConfigMap, namespace: $NS, name: web}
    expression: objects[0].data.greeting
  expression: members.all(m, members[m].values.greeting != "bad")
  maxAge: 12s
  within: 2s
  fallback: {action: Rollback, layers: [{kind: Layer, name: web}]}
`

// giveCertificate writes the ConfigMap that sameCertificate looks at, past the hub.
func (s *site) giveCertificate(certificate string) {
	s.arena.Helper()
	s.apply("certificates", fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: %q}}`, certificate))
}

func (a *arena) assertion(g gomega.Gomega, name string) *v1alpha1.StateAssertion {
	assertion := &v1alpha1.StateAssertion{}
	key := client.ObjectKey{Namespace: a.namespace, Name: name}
	g.ExpectWithOffset(1, a.hub.Get(a.Context(), key, assertion)).To(gomega.Succeed(), "assertion %s", name)
	return assertion
}

// awaitHolds waits until an assertion is judged so, and returns its status.
func (a *arena) awaitHolds(name string, holds metav1.ConditionStatus, members string) v1alpha1.StateAssertionStatus {
	a.Helper()
	var status v1alpha1.StateAssertionStatus
	a.eventually(fmt.Sprintf("%s: %s on %s members", name, holds, members), func(g gomega.Gomega) {
		status = a.assertion(g, name).Status
		g.Expect(status.Holds).To(gomega.Equal(holds), "%s", status.Message)
		g.Expect(status.Members).To(gomega.Equal(members), "%s", status.Message)
		g.Expect(condition(status.Conditions, v1alpha1.ConditionHolds).Status).To(gomega.Equal(holds))
	})
	return status
}

// awaitHeld waits until a layer is held by the test's assertion, or by nobody.
func (a *arena) awaitHeld(layer, assertion string) {
	a.Helper()
	want := []string{}
	if assertion != "" {
		want = append(want, "StateAssertion "+a.namespace+"/"+assertion)
	}
	a.eventually(fmt.Sprintf("layer %s is held by %v", layer, want), func(g gomega.Gomega) {
		g.Expect(a.layer(g, layer).LayerStatus().HeldBy).To(gomega.ConsistOf(want))
	})
}

// Not beside other tests: the member lone is frozen and made anew by others.
func TestStateAssertionHoldsALayerWhileACertificateDiffers(t *testing.T) {
	a := newArena(t, "eu", "us", "lone")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	for _, s := range a.sites {
		s.giveCertificate("one")
	}
	a.apply(sameCertificate, "$ACTION", "Hold")
	a.awaitHolds("same-certificate", metav1.ConditionTrue, "3/3")
	a.awaitHeld("web", "")

	a.site("lone").giveCertificate("another")
	differed := time.Now()
	status := a.awaitHolds("same-certificate", metav1.ConditionFalse, "3/3")
	a.Logf("found after %s", time.Since(differed).Round(time.Second))
	if status.Message != "the certificates of 3 members differ" {
		t.Errorf("says %q", status.Message)
	}
	a.awaitHeld("web", "same-certificate")
	a.eventually("the assertion says what it did", func(g gomega.Gomega) {
		stalled := condition(a.assertion(g, "same-certificate").Status.Conditions, v1alpha1.ConditionStalled)
		g.Expect(stalled.Reason).To(gomega.Equal("DeadlineExceeded"))
		g.Expect(stalled.Message).To(gomega.ContainSubstring("Layer %s/web is held", a.namespace))
	})
	a.apply(webLayer, "$GREETING", "good morning")
	a.eventually("the layer says who holds it", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "eu").Status.Message).To(gomega.ContainSubstring("held by StateAssertion"))
	})
	a.throughout(3*time.Second, "members keep the revision that they have", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.data(g, "web")).To(gomega.HaveKeyWithValue("greeting", "hello"), s.name)
		}
	})

	a.site("lone").giveCertificate("one")
	a.awaitHolds("same-certificate", metav1.ConditionTrue, "3/3")
	a.awaitHeld("web", "")
	a.expectGreeting("good morning")
	a.awaitConverged("web")
}

// Not beside other tests: it freezes a member.
func TestStateAssertionIsNeverTrueOfAMemberThatIsAway(t *testing.T) {
	a := newArena(t, "eu", "us", "lone")
	for _, s := range a.sites {
		s.giveCertificate("one")
	}
	a.apply(sameCertificate, "$ACTION", "Report", ", layers: [{kind: Layer, name: web}]", "")
	a.awaitHolds("same-certificate", metav1.ConditionTrue, "3/3")

	lone := a.site("lone")
	if err := lone.cluster.Freeze(); err != nil {
		t.Fatal(err)
	}
	thaw := func() {
		if err := lone.cluster.Thaw(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(thaw)
	frozen := time.Now()
	status := a.awaitHolds("same-certificate", metav1.ConditionUnknown, "2/3")
	a.Logf("Unknown %s after it froze: %s", time.Since(frozen).Round(time.Second), status.Message)
	a.throughout(15*time.Second, "the assertion is not known to hold", func(g gomega.Gomega) {
		g.Expect(a.assertion(g, "same-certificate").Status.Holds).To(gomega.Equal(metav1.ConditionUnknown))
	})
	a.site("us").giveCertificate("another")
	a.awaitHolds("same-certificate", metav1.ConditionFalse, "2/3")

	thaw()
	a.site("us").giveCertificate("one")
	a.awaitHolds("same-certificate", metav1.ConditionTrue, "3/3")
}

func TestStateAssertionRollsALayerBackOnce(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	a.apply(sameGreeting)
	a.awaitHolds("good-greeting", metav1.ConditionTrue, "2/2")
	var good string
	a.now("remember the revision", func(g gomega.Gomega) { good = a.layer(g, "web").LayerStatus().Revision })

	a.apply(webLayer, "$GREETING", "bad")
	a.eventually("the layer is rolled back", func(g gomega.Gomega) {
		status := a.layer(g, "web").LayerStatus()
		g.Expect(status.RolledBack).NotTo(gomega.BeNil())
		g.Expect(status.RolledBack.Revision).To(gomega.Equal(good))
		g.Expect(status.RolledBack.From).To(gomega.Equal(status.Revision))
		g.Expect(status.RolledBack.By).To(gomega.Equal("StateAssertion " + a.namespace + "/good-greeting"))
		g.Expect(a.assertion(g, "good-greeting").Status.RolledBack).To(gomega.ConsistOf(status.Revision))
	})
	a.expectGreeting("hello")
	a.awaitHolds("good-greeting", metav1.ConditionTrue, "2/2")

	a.apply(webLayer, "$GREETING", "better")
	a.expectGreeting("better")
	a.awaitConverged("web")
}

func TestRollbackWithoutAnEarlierRevisionIsSaid(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "bad")
	a.awaitConverged("web")
	a.apply(sameGreeting)
	a.eventually("the assertion says that there is nothing to return to", func(g gomega.Gomega) {
		stalled := condition(a.assertion(g, "good-greeting").Status.Conditions, v1alpha1.ConditionStalled)
		g.Expect(stalled.Message).To(gomega.ContainSubstring("has no revision before"))
		g.Expect(stalled.Message).To(gomega.ContainSubstring("mend the layer"))
	})
	a.now("the layer is as it was", func(g gomega.Gomega) {
		g.Expect(a.layer(g, "web").LayerStatus().RolledBack).To(gomega.BeNil())
	})
}

// What an assertion has left behind goes with it.
func TestDeletedStateAssertionLetsGo(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	a.site("eu").giveCertificate("one")
	a.site("us").giveCertificate("another")
	a.apply(sameCertificate, "$ACTION", "Hold")
	a.awaitHeld("web", "same-certificate")

	a.remove(&v1alpha1.StateAssertion{ObjectMeta: a.onHub("same-certificate")})
	a.awaitHeld("web", "")
	a.eventually("members are observed no more", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(a.member(g, s.name).Status.Observations).To(gomega.BeEmpty(), s.name)
		}
	})
}

// What is observed of a Secret can be compared, and not read.
func TestWhatIsObservedOfSecretsStaysSecret(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	for _, s := range a.sites {
		s.apply("certificates", `{apiVersion: v1, kind: Secret, metadata: {name: ca}, stringData: {ca.key: classified}}`)
	}
	a.apply(sameCertificate, "$ACTION", "Report", ", layers: [{kind: Layer, name: web}]", "",
		"kind: ConfigMap", "kind: Secret", `sha256(objects[0].data["ca.crt"])`, `objects[0].data["ca.key"]`)
	a.awaitHolds("same-certificate", metav1.ConditionTrue, "2/2")
	a.now("the hub has digests", func(g gomega.Gomega) {
		for _, s := range a.sites {
			observations := a.member(g, s.name).Status.Observations
			g.Expect(observations).To(gomega.HaveLen(1))
			g.Expect(string(observations[0].Values[0].Value.Raw)).To(gomega.MatchRegexp(`^"sha256:[0-9a-f]{64}"$`))
			g.Expect(observations[0].Values[0].ResourceVersion).NotTo(gomega.BeEmpty())
		}
	})
}

func TestStateAssertionThatCannotBeJudgedSaysWhatToMend(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	for name, c := range map[string]struct {
		replacements []string
		reason, says string
	}{
		"does-not-compile": {
			[]string{"members.all(m, members", "membres.all(m, members"}, "InvalidExpression", "spec.expression: column 1",
		},
		"selects-nobody": {
			[]string{"spec:", "spec:\n  clusterSelector: {matchLabels: {region: moon}}"}, "SelectsNoMember", "spec.clusterSelector",
		},
		"names-no-layer": {nil, "LayerNotFound", "Layer web"},
	} {
		a.apply(sameCertificate, append([]string{"same-certificate", name, "$ACTION", "Hold"}, c.replacements...)...)
		a.eventually(name+" says what is wrong", func(g gomega.Gomega) {
			status := a.assertion(g, name).Status
			ready := condition(status.Conditions, v1alpha1.ConditionReady)
			g.Expect(ready.Status).To(gomega.Equal(metav1.ConditionFalse))
			g.Expect(ready.Reason).To(gomega.Equal(c.reason))
			g.Expect(ready.Message).To(gomega.ContainSubstring(c.says))
			g.Expect(status.Holds).NotTo(gomega.Equal(metav1.ConditionTrue))
			g.Expect(condition(status.Conditions, v1alpha1.ConditionStalled).Status).To(gomega.Equal(metav1.ConditionTrue))
		})
	}
}
