package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// deadlined is a layer with a deadline. With another $CPU no node has room for its Pods, and
// with another $EXTRA it holds a ConfigMap of another name.
const deadlined = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: $NAME}
spec:
  order: 100
  clusterSelector: {}
  convergence: {timeout: $TIMEOUT, fallback: $FALLBACK, retries: 1}
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: $NAME-$EXTRA, namespace: $NS}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: $NAME, namespace: $NS}
    spec:
      replicas: 1
      selector: {matchLabels: {app: $NAME}}
      template:
        metadata: {labels: {app: $NAME}}
        spec:
          containers:
          - {name: app, image: app, resources: {requests: {cpu: $CPU}}}
`

// Quantities for $CPU.
const (
	fits    = "100m"
	neverUp = "100k"
)

// applyDeadlined applies the layer, well or ill.
func (a *arena) applyDeadlined(name, fallback, timeout, cpu string) {
	a.Helper()
	extra := "good"
	if cpu == neverUp {
		extra = "bad"
	}
	a.apply(deadlined, "$NAME", name, "$FALLBACK", fallback, "$TIMEOUT", timeout, "$CPU", cpu, "$EXTRA", extra)
}

// wanted waits until the layer's newest generation is a revision, and is that revision.
func (a *arena) wanted(layer string) (revision string) {
	a.Helper()
	a.eventually("layer "+layer+" is rendered", func(g gomega.Gomega) {
		l := a.layer(g, layer)
		g.Expect(l.LayerStatus().ObservedGeneration).To(gomega.Equal(l.GetGeneration()))
		revision = l.LayerStatus().Revision
	})
	return revision
}

// awaitOutcome waits until it is said what was done about a revision.
func (a *arena) awaitOutcome(layer, member, revision string, outcome v1alpha1.Outcome, says ...string) *v1alpha1.Wait {
	a.Helper()
	var wait *v1alpha1.Wait
	a.eventually(fmt.Sprintf("%s on %s is %s", layer, member, outcome), func(g gomega.Gomega) {
		status := a.binding(g, layer, member).Status
		g.Expect(status.Wait).NotTo(gomega.BeNil(), "%s: %s", status.State, status.Message)
		wait = status.Wait
		g.Expect(wait.Revision).To(gomega.Equal(revision))
		g.Expect(wait.Outcome).To(gomega.Equal(outcome), "%s: %s", status.State, status.Message)
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		g.Expect(status.Phase).To(gomega.Equal(v1alpha1.PhaseTimedOut))
		for _, text := range append(says, revision, "did not converge in time") {
			g.Expect(status.Message).To(gomega.ContainSubstring(text))
		}
	})
	return wait
}

// Each fallback does what it says, once, and a good revision mends all of them.
func TestFallbacks(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	const timeout = "6s"
	fallbacks := map[string]v1alpha1.Outcome{
		"hold": v1alpha1.OutcomeHolding, "rollback": v1alpha1.OutcomeRolledBack,
		"skip": v1alpha1.OutcomeSkipped, "retry": v1alpha1.OutcomeHolding,
	}
	policies := map[string]string{"hold": "Hold", "rollback": "Rollback", "skip": "Skip", "retry": "Retry"}
	good := map[string]string{}
	for name := range fallbacks {
		a.applyDeadlined(name, policies[name], "2m", fits)
		a.awaitConverged(name)
		good[name] = a.wanted(name)
	}
	began := map[string]time.Time{}
	for name := range fallbacks {
		began[name] = time.Now()
		a.applyDeadlined(name, policies[name], timeout, neverUp)
	}
	for name, outcome := range fallbacks {
		bad := a.wanted(name)
		wait := a.awaitOutcome(name, "eu", bad, outcome, "Deployment "+a.namespace+"/"+name)
		if took := wait.OutcomeAt.Sub(began[name]); took < 5*time.Second {
			t.Errorf("%s was decided after %s, before the deadline", name, took)
		}
	}
	a.eventually("only Retry has tried again", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "retry", "eu").Status.Wait.Attempt).To(gomega.BeEquivalentTo(2))
		g.Expect(a.notes(g, "Retrying", "LayerBinding", "eu-retry-")).To(gomega.HaveLen(1))
	})
	a.eventually("the good revision is back, and what the bad one made is gone", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "rollback", "eu").Status.Revision).To(gomega.Equal(good["rollback"]))
		eu.object(g, "v1", "ConfigMap", "rollback-good")
		eu.lacks(g, "v1", "ConfigMap", "rollback-bad")
	})
	a.throughout(3*time.Second, "what was decided stays", func(g gomega.Gomega) {
		for name, outcome := range fallbacks {
			g.Expect(a.binding(g, name, "eu").Status.Wait.Outcome).To(gomega.Equal(outcome))
			g.Expect(a.notes(g, string(outcome), "LayerBinding", "eu-"+name+"-")).To(gomega.HaveLen(1))
			g.Expect(isConverged(a.layer(g, name))).To(gomega.BeFalse())
		}
		eu.object(g, "v1", "ConfigMap", "hold-bad")
		eu.object(g, "v1", "ConfigMap", "skip-bad")
	})
	for name := range fallbacks {
		a.applyDeadlined(name, policies[name], "2m", fits)
	}
	for name := range fallbacks {
		a.awaitConverged(name)
	}
}

// A layer that never had a good revision on a member has nothing to be rolled back to.
func TestRollbackWithoutAGoodRevision(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.applyDeadlined("app", "Rollback", "3s", neverUp)
	a.awaitOutcome("app", "eu", a.wanted("app"), v1alpha1.OutcomeHolding, "there is no earlier revision", "is held until")
	a.applyDeadlined("app", "Rollback", "2m", fits)
	a.awaitConverged("app")
}

// The deadline is on the hub: that all managers end and others begin changes nothing of it, and
// what follows is done once. It runs alone, since it ends managers.
func TestDeadlineSurvivesTheManagers(t *testing.T) {
	a := newArena(t, "eu")
	restoreReplicas(t)
	a.applyDeadlined("app", "Rollback", "2m", fits)
	a.awaitConverged("app")
	good := a.wanted("app")

	a.applyDeadlined("app", "Rollback", "20s", neverUp)
	bad := a.wanted("app")
	var deadline time.Time
	a.eventually("the clock runs", func(g gomega.Gomega) {
		wait := a.binding(g, "app", "eu").Status.Wait
		g.Expect(wait).NotTo(gomega.BeNil())
		g.Expect(wait.Revision).To(gomega.Equal(bad))
		g.Expect(wait.TimeoutAt).NotTo(gomega.BeNil())
		deadline = wait.TimeoutAt.Time
	})
	time.Sleep(5 * time.Second)
	for _, replica := range running() {
		if err := replica.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	startReplica(t)
	wait := a.awaitOutcome("app", "eu", bad, v1alpha1.OutcomeRolledBack, good)
	if !wait.TimeoutAt.Time.Equal(deadline) {
		t.Errorf("the deadline was %s and is now %s", deadline, wait.TimeoutAt)
	}
	if wait.OutcomeAt.Time.Before(deadline) {
		t.Errorf("decided at %s, before the deadline at %s", wait.OutcomeAt, deadline)
	}
	a.eventually("the member has the good revision", func(g gomega.Gomega) {
		a.site("eu").lacks(g, "v1", "ConfigMap", "app-bad")
		a.site("eu").object(g, "v1", "ConfigMap", "app-good")
	})
	startReplica(t)
	a.throughout(3*time.Second, "it was done once", func(g gomega.Gomega) {
		g.Expect(a.notes(g, "RolledBack", "LayerBinding", "eu-app-")).To(gomega.HaveLen(1))
		g.Expect(a.binding(g, "app", "eu").Status.Wait.Attempt).To(gomega.BeEquivalentTo(1))
	})
	a.applyDeadlined("app", "Rollback", "2m", fits)
	a.awaitConverged("app")
}

// A bad revision and a good one soon after, again and again: it always ends good, whether the
// bad one was decided about or superseded.
func TestBadRevisionsAreSuperseded(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	for round := range 6 {
		fallback := []string{"Rollback", "Hold", "Retry"}[round%3]
		a.applyDeadlined("app", fallback, "2s", neverUp)
		time.Sleep(time.Duration(round) * 800 * time.Millisecond)
		a.applyDeadlined("app", fallback, "2m", fits)
		a.awaitConverged("app")
		a.now("the member has the good one", func(g gomega.Gomega) {
			a.site("eu").object(g, "v1", "ConfigMap", "app-good")
			a.site("eu").lacks(g, "v1", "ConfigMap", "app-bad")
			g.Expect(a.binding(g, "app", "eu").Status.Wait).To(gomega.BeNil())
		})
	}
}

// While a member is paused its clock stands still, and goes on where it was.
func TestDeadlineStandsStillWhilePaused(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.applyDeadlined("app", "Hold", "2m", fits)
	a.awaitConverged("app")
	eu := &v1alpha1.MemberCluster{ObjectMeta: a.onHub("eu")}
	a.applyDeadlined("app", "Hold", "8s", neverUp)
	bad := a.wanted("app")
	a.eventually("the clock runs", func(g gomega.Gomega) {
		status := a.binding(g, "app", "eu").Status
		g.Expect(status.Revision).To(gomega.Equal(bad))
		g.Expect(status.Wait).NotTo(gomega.BeNil())
		g.Expect(status.Wait.TimeoutAt).NotTo(gomega.BeNil())
	})
	a.patch(eu, `{"spec":{"paused":true}}`)
	a.eventually("it stands still", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "app", "eu").Status.Wait.StoppedAt).NotTo(gomega.BeNil())
	})
	a.throughout(9*time.Second, "nothing is decided", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "app", "eu").Status.Wait.Outcome).To(gomega.BeEmpty())
	})
	a.patch(eu, `{"spec":{"paused":false}}`)
	a.awaitOutcome("app", "eu", bad, v1alpha1.OutcomeHolding)
}

// A layer that is deleted while its revision waits is undone, whatever was waited for.
func TestLayerDeletedWhileItWaits(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.applyDeadlined("app", "Retry", "4s", neverUp)
	a.eventually("the clock runs", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "app", "eu").Status.Wait).NotTo(gomega.BeNil())
	})
	a.removeLayer("app")
	a.eventually("all of it is gone", func(g gomega.Gomega) {
		a.site("eu").lacks(g, "apps/v1", "Deployment", "app")
		l := a.emptyLayer("app")
		g.Expect(client.IgnoreNotFound(a.hub.Get(a.Context(), client.ObjectKeyFromObject(l), l))).To(gomega.Succeed())
		g.Expect(l.GetUID()).To(gomega.BeEmpty())
	})
}

// Nothing is decided about a member that cannot be seen, and what is decided when it is back
// follows from what it is then.
func TestMemberAwayWhileARevisionWaits(t *testing.T) {
	t.Parallel()
	proxy := startProxy(t, shared.Member("us"))
	a := emptyArena(t, shared, nameFor(t))
	us := a.registerWith("us", shared.Member("us"), must(t)(proxy.Kubeconfig()))
	a.awaitReady("us")
	a.applyDeadlined("app", "Rollback", "2m", fits)
	a.awaitConverged("app")

	a.applyDeadlined("app", "Rollback", "10s", neverUp)
	bad := a.wanted("app")
	a.eventually("the member has the bad one", func(g gomega.Gomega) { us.object(g, "v1", "ConfigMap", "app-bad") })
	if err := proxy.Cut(); err != nil {
		t.Fatal(err)
	}
	a.eventually("the member is Unknown after the deadline", func(g gomega.Gomega) {
		status := a.binding(g, "app", "us").Status
		g.Expect(status.Phase).To(gomega.Equal(v1alpha1.PhaseUnknown), status.Message)
		g.Expect(status.Wait.TimeoutAt.Time).To(gomega.BeTemporally("<", time.Now()))
	})
	a.throughout(3*time.Second, "nothing is decided", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "app", "us").Status.Wait.Outcome).To(gomega.BeEmpty())
	})
	if err := proxy.Heal(); err != nil {
		t.Fatal(err)
	}
	a.awaitOutcome("app", "us", bad, v1alpha1.OutcomeRolledBack)
	a.eventually("the good one is back", func(g gomega.Gomega) { us.lacks(g, "v1", "ConfigMap", "app-bad") })
}
