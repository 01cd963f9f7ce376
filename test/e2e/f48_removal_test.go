package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// many is a layer with any number of ConfigMaps.
const many = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {matchLabels: {region: $REGION}}
  manifests: [$OBJECTS]
`

// configMaps are the manifests of the ConfigMaps cm-0 and so on.
func configMaps(count int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: cm-%d, namespace: $NS}, data: {a: b}}", i))
	}
	return strings.Join(all, ", ")
}

// Edits that are more often mistakes than wishes delete nothing before somebody has said
// that they are meant. Each of the ways out that the message names is one.
func TestF48MistakesDeleteNothing(t *testing.T) {
	t.Parallel()
	const objects = 12
	good := replaced(many, "$REGION", "eu", "$OBJECTS", configMaps(objects))
	for name, mistake := range map[string]struct {
		layer, meant string
		remain       int
		await        func(*arena)
	}{
		"empty layer": {
			replaced(many, "$REGION", "eu", "$OBJECTS", ""), "allowEmpty: true", 0, func(a *arena) {
				a.awaitUnrendered("app", complaint{"Empty", []string{"holds no manifests", "Delete the layer", "sync.allowEmpty"}})
			},
		},
		"nothing but patches": {
			replaced(many, "$REGION", "eu", "$OBJECTS", "") + "  patches: [{target: {kind: ConfigMap}, merge: {data: {a: c}}}]\n",
			"allowEmpty: true", 0, func(a *arena) {
				a.awaitProblem("app", "eu", complaint{"LayerEmptied", []string{"12 of it are still on the member", "sync.allowEmpty", "deleting the layer"}})
			},
		},
		"typo in the selector": {
			replaced(many, "$REGION", "ue", "$OBJECTS", configMaps(objects)), "allowEmpty: true", 0, func(a *arena) {
				a.awaitProblem("app", "eu", complaint{"SelectsNoMember", []string{
					"spec.clusterSelector", "12 objects of the layer", "sync.allowEmpty", "deleting the layer",
				}})
			},
		},
		"more than the limit": {
			replaced(many, "$REGION", "eu", "$OBJECTS", configMaps(1)), "pruneLimit: 11", 1, func(a *arena) {
				a.awaitProblem("app", "eu", complaint{"PruneLimitExceeded", []string{"spec.sync.pruneLimit", "11 of the 12 objects", "a limit of 11"}})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, "eu")
			eu := a.site("eu")
			since := eu.cluster.Audit().End()
			a.apply(good)
			a.awaitConverged("app")
			kept := a.uids("v1", "ConfigMap", "cm-11")

			// The first way out is to mend it.
			a.apply(mistake.layer)
			mistake.await(a)
			a.apply(good)
			a.awaitConverged("app")
			a.apply(mistake.layer)
			mistake.await(a)
			a.now("nothing was deleted", func(g gomega.Gomega) {
				g.Expect(eu.deletes(g, since)).To(gomega.BeEmpty())
				g.Expect(eu.configMaps(g)).To(gomega.Equal(objects))
			})
			a.expectKept(kept, "v1", "ConfigMap", "cm-11")

			a.apply(mistake.layer + "  sync: {" + mistake.meant + "}\n")
			a.eventually("what is meant to go goes", func(g gomega.Gomega) { g.Expect(eu.configMaps(g)).To(gomega.Equal(mistake.remain)) })

			a.apply(good)
			a.awaitConverged("app")
			a.apply(mistake.layer)
			mistake.await(a)
			a.removeLayer("app")
			a.awaitNoLayer()
			a.now("deleting the layer is clear enough", func(g gomega.Gomega) { g.Expect(eu.configMaps(g)).To(gomega.BeZero()) })
		})
	}
}

// configMaps counts those of the layer "many" on the member.
func (s *site) configMaps(g gomega.Gomega) int {
	names, err := namesOf(s.arena.Context(), s.client, &corev1.ConfigMapList{}, client.InNamespace(s.arena.namespace))
	g.ExpectWithOffset(1, err).NotTo(gomega.HaveOccurred())
	return len(slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "cm-") }))
}

// A member that cannot say what it has is not a member that has nothing.
func TestF48ListsThatFailDeleteNothing(t *testing.T) {
	t.Parallel()
	a, gate, eu := behindGateway(t)
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")
	kept := a.uids("v1", "ConfigMap", "other")

	since := eu.cluster.Audit().End()
	gate.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return false
		}
		http.Error(w, "out of order", http.StatusInternalServerError)
		return true
	})
	a.awaitProblem("web", "eu", complaint{"CannotWatch", []string{"ConfigMap " + a.namespace + "/", "code 500"}})
	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", other)
	eu.expectGreeting("good morning")
	a.awaitProblem("web", "eu", complaint{"CannotWatch", []string{"ConfigMap " + a.namespace + "/", "code 500"}})

	gate.answers(nil)
	a.awaitConverged("web")
	a.expectKept(kept, "v1", "ConfigMap", "other")
	a.now("nothing was deleted", func(g gomega.Gomega) { g.Expect(eu.deletes(g, since)).To(gomega.BeEmpty()) })
}
