package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// padded is a name filled up to a length.
func padded(name string, length int) string {
	return name + strings.Repeat("x", length-len(name))
}

func TestF13NamesAsLongAsTheAPIAllows(t *testing.T) {
	t.Parallel()
	a := emptyArena(t, shared, padded(fmt.Sprintf("long-%d-", arenas.Add(1)), 63))
	cluster, object, layer := padded("cluster-", 63), padded("object-", 253), padded("layer-", 253)
	member := a.registerSecret(cluster, a.fleet.Member("eu"), nil)
	a.awaitReady(cluster)

	a.apply(webLayer, "name: web}", "name: "+layer+"}", "name: web,", "name: "+object+",", "$GREETING", "hello")
	a.awaitConverged(layer)
	a.eventually("the object is there, and names its layer in full", func(g gomega.Gomega) {
		u := member.object(g, "v1", "ConfigMap", object)
		g.Expect(u.GetAnnotations()).To(gomega.HaveKeyWithValue(v1alpha1.AnnotationLayer, a.namespace+"/"+layer))
	})

	// Drift is mended and told, whatever the length of the binding's name.
	member.delete("v1", "ConfigMap", object)
	a.eventually("the object is back", func(g gomega.Gomega) { member.object(g, "v1", "ConfigMap", object) })
	a.eventually("an event tells of it", func(g gomega.Gomega) {
		var list eventsv1.EventList
		g.Expect(a.hub.List(a.Context(), &list, client.InNamespace(a.namespace))).To(gomega.Succeed())
		g.Expect(list.Items).To(gomega.ContainElement(gomega.HaveField("Reason", "DriftMended")))
	})

	a.removeLayer(layer)
	a.eventually("the object is gone", func(g gomega.Gomega) { member.lacks(g, "v1", "ConfigMap", object) })
}

// Whoever joins namespace and name by a dash takes a/b-c and a-b/c for one.
func TestF13NamesThatLookAlikeWhenJoined(t *testing.T) {
	t.Parallel()
	name := nameFor(t)
	first, second := emptyArena(t, shared, name), emptyArena(t, shared, name+"-b")
	b := first.registerSecret("b-c", first.fleet.Member("eu"), nil)
	c := second.registerSecret("c", second.fleet.Member("eu"), nil)
	first.awaitReady("b-c")
	second.awaitReady("c")
	first.apply(webLayer, "$GREETING", "first")
	second.apply(webLayer, "$GREETING", "second")
	first.awaitConverged("web")
	second.awaitConverged("web")
	b.expectGreeting("first")
	c.expectGreeting("second")

	first.removeLayer("web")
	first.eventually("the first member's object is gone", func(g gomega.Gomega) { b.lacks(g, "v1", "ConfigMap", "web") })
	second.apply(webLayer, "$GREETING", "still here")
	c.expectGreeting("still here")
	second.awaitConverged("web")
}
