package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// webLayer is a layer with one ConfigMap; $GREETING is to be given.
const webLayer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, namespace: $NS}
    data: {greeting: $GREETING}
`

// expectGreeting waits until the ConfigMap of webLayer says something on all members.
func (a *arena) expectGreeting(greeting string) {
	a.Helper()
	for _, s := range a.sites {
		s.expectGreeting(greeting)
	}
}

func (s *site) expectGreeting(greeting string) {
	s.arena.Helper()
	s.arena.eventually("the greeting on "+s.name+" is "+greeting, func(g gomega.Gomega) {
		g.Expect(s.data(g, "web")).To(gomega.HaveKeyWithValue("greeting", greeting))
	})
}

func TestEditedLayerReachesAllMembers(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	a.expectGreeting("hello")
	uids := a.uids("v1", "ConfigMap", "web")

	a.apply(webLayer, "$GREETING", "good morning")
	a.expectGreeting("good morning")
	a.awaitConverged("web")
	a.expectKept(uids, "v1", "ConfigMap", "web")

	a.now("objects name their hub and their layer", func(g gomega.Gomega) {
		for _, s := range a.sites {
			web := s.object(g, "v1", "ConfigMap", "web")
			g.Expect(web.GetLabels()).To(gomega.HaveKey(v1alpha1.LabelHub))
			g.Expect(web.GetAnnotations()).To(gomega.HaveKeyWithValue(v1alpha1.AnnotationLayer, a.namespace+"/web"))
		}
	})
}

func TestRemovedOverrideFallsBackToTheLowerLayer(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	const override = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: region}
spec:
  order: 200
  clusterSelector: {matchLabels: {region: eu}}
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, namespace: $NS}
    data: {$DATA}
`
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(override, "$DATA", "greeting: moin, currency: EUR")
	a.awaitConvergedOn("region", 1)
	a.awaitConverged("web")
	a.site("eu").expectGreeting("moin")
	a.site("us").expectGreeting("hello")
	uids := a.uids("v1", "ConfigMap", "web")

	// One field of the override goes: the layer below is back, the other field stays.
	a.apply(override, "$DATA", "currency: EUR")
	a.site("eu").expectGreeting("hello")
	a.now("the rest of the override stays", func(g gomega.Gomega) {
		g.Expect(a.site("eu").data(g, "web")).To(gomega.HaveKeyWithValue("currency", "EUR"))
	})

	// The whole override goes.
	a.removeLayer("region")
	a.eventually("nothing of the override is left", func(g gomega.Gomega) {
		g.Expect(a.site("eu").data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "hello"}))
	})
	a.awaitConverged("web")
	a.expectKept(uids, "v1", "ConfigMap", "web")
}

func TestDeletedLayerIsPrunedAndReleased(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: extra}
spec:
  order: 200
  clusterSelector: {}
  sync: {pruneCascading: true}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: $NS}, data: {a: b}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: $NS-extra}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: $NS-extra}, data: {a: b}}
`)
	a.awaitConverged("web", "extra")

	a.removeLayer("extra")
	a.eventually("the layer's objects are gone, and then the layer", func(g gomega.Gomega) {
		for _, s := range a.sites {
			s.lacks(g, "v1", "ConfigMap", "extra")
			s.lacks(g, "v1", "Namespace", a.namespace+"-extra")
		}
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).
			To(gomega.ConsistOf("web"))
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).
			To(gomega.HaveLen(len(a.sites)))
	})
	a.expectGreeting("hello")
}

func TestPruningDeletesOnlyWhatIsOurs(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	const layer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: hello}}
  $MORE
`
	a.apply(layer, "$MORE", `- {apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: $NS}, data: {a: b}}`)
	a.awaitConverged("web")

	// On one member somebody puts another object in the place of ours while we look away.
	us, paused := a.site("us"), &v1alpha1.MemberCluster{ObjectMeta: a.onHub("us")}
	a.patch(paused, `{"spec":{"paused":true}}`)
	a.eventually("the member is paused", func(g gomega.Gomega) {
		g.Expect(condition(a.member(g, "us").Status.Conditions, v1alpha1.ConditionPaused).Reason).NotTo(gomega.BeEmpty())
	})
	us.delete("v1", "ConfigMap", "old")
	us.apply("colleague", `{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {made: by hand}}`)

	a.apply(layer, "$MORE", "")
	// A member that resumes with the former revision would take the colleague's object for
	// its own, and then prune it.
	a.eventually("the paused member knows the new revision", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "us").Status.LayerGeneration).To(gomega.Equal(a.layer(g, "web").GetGeneration()))
	})
	a.patch(paused, `{"spec":{"paused":false}}`)
	a.awaitConverged("web")
	a.eventually("the object is pruned where it is ours, and nowhere else", func(g gomega.Gomega) {
		a.site("eu").lacks(g, "v1", "ConfigMap", "old")
		g.Expect(us.data(g, "old")).To(gomega.HaveKeyWithValue("made", "by hand"))
		for _, s := range a.sites {
			g.Expect(a.binding(g, "web", s.name).Status.Inventory).To(gomega.HaveLen(1))
		}
	})
}

func TestObjectIsHandedOverWhenItsLayerGoes(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	const holder = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: $NAME}
spec:
  order: $ORDER
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: $NS}, data: {from: $NAME}}
`
	a.apply(holder, "$NAME", "old", "$ORDER", "100")
	a.awaitConverged("old")
	uids := a.uids("v1", "ConfigMap", "shared")

	a.apply(holder, "$NAME", "new", "$ORDER", "200")
	a.awaitConverged("new", "old")
	a.removeLayer("old")
	a.eventually("the object belongs to the other layer, and the first is gone", func(g gomega.Gomega) {
		for _, s := range a.sites {
			u := s.object(g, "v1", "ConfigMap", "shared")
			g.Expect(u.GetAnnotations()).To(gomega.HaveKeyWithValue(v1alpha1.AnnotationLayer, a.namespace+"/new"))
			binding := a.binding(g, "new", s.name)
			g.Expect(binding.Status.Inventory).To(gomega.HaveLen(1))
			g.Expect(binding.Status.Inventory[0].UID).To(gomega.Equal(u.GetUID()))
		}
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("new"))
	})
	a.awaitConverged("new")
	a.expectKept(uids, "v1", "ConfigMap", "shared")
}

func TestEnforcedFieldStays(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	for _, s := range a.sites {
		a.patch(&v1alpha1.MemberCluster{ObjectMeta: a.onHub(s.name)}, `{"metadata":{"labels":{"e2e":"`+a.namespace+`"}}}`)
	}
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: ClusterLayer
metadata: {name: base-$NS}
spec:
  order: 0
  enforce: true
  clusterSelector: {matchLabels: {e2e: $NS}}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {policy: deny}}
---
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {policy: allow, greeting: hello}}
`)
	// The rest of the upper layer is in effect: it has converged, and still says what it lost.
	a.awaitConverged("ClusterLayer/base-$NS", "web")
	a.eventually("the attempt is reported on the layer that made it", func(g gomega.Gomega) {
		for _, s := range a.sites {
			g.Expect(s.data(g, "web")).To(gomega.Equal(map[string]string{"policy": "deny", "greeting": "hello"}))
			problems := a.binding(g, "web", s.name).Status.Problems
			g.Expect(problems).To(gomega.HaveLen(1))
			g.Expect(problems[0].Reason).To(gomega.Equal("EnforcedFieldOverridden"))
			g.Expect(problems[0].Object).To(gomega.Equal("ConfigMap " + a.namespace + "/web"))
			g.Expect(problems[0].Path).To(gomega.Equal("data.policy"))
			g.Expect(problems[0].Message).To(gomega.ContainSubstring("base-" + a.namespace))
		}
		g.Expect(a.layer(g, "web").LayerStatus().Message).To(gomega.ContainSubstring("data.policy"))
	})
}
