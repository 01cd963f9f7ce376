package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// inherited is a layer of which two objects are on the member before it.
const inherited = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: app}
spec:
  order: 100
  clusterSelector: {}
  sync: {adopt: $ADOPT}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: released, namespace: $NS}, data: {from: layer}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: handmade, namespace: $NS}, data: {from: layer}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: absent, namespace: $NS}, data: {from: layer}}
`

// What is on the member already is taken as far as the policy goes: nothing, then what no
// other tool keeps, then everything.
func TestAdoptionGoesAsFarAsItsPolicy(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	eu.make("helm", "released", map[string]string{"from": "helm"}, map[string]string{
		"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "sales",
	})
	eu.make("kubectl-create", "handmade", map[string]string{"from": "hand", "own": "yes"}, nil)
	released, handmade := "ConfigMap "+a.namespace+"/released", "ConfigMap "+a.namespace+"/handmade"
	byHelm := complaint{"AlreadyExists", []string{"Helm release sales/shop", "meta.helm.sh/release-name", "let it be adopted"}}
	byHand := complaint{"AlreadyExists", []string{"kubectl-create", "let it be adopted"}}
	from := func(g gomega.Gomega, want map[string]string) {
		for name, text := range want {
			g.ExpectWithOffset(1, eu.data(g, name)).To(gomega.HaveKeyWithValue("from", text), name)
		}
	}

	a.apply(inherited, "$ADOPT", "Never")
	a.eventually("what was there is left alone and reported, the rest goes on", func(g gomega.Gomega) {
		from(g, map[string]string{"released": "helm", "handmade": "hand", "absent": "layer"})
		binding := a.binding(g, "app", "eu")
		byHelm.expectOn(g, binding, released)
		byHand.expectOn(g, binding, handmade)
		g.Expect(binding.Status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		g.Expect(binding.Status.Ready).To(gomega.Equal("1/3"))
	})

	a.apply(inherited, "$ADOPT", "IfUnmanaged")
	a.eventually("only what Helm keeps is left alone", func(g gomega.Gomega) {
		from(g, map[string]string{"released": "helm", "handmade": "layer", "absent": "layer"})
		binding := a.binding(g, "app", "eu")
		byHelm.expectOn(g, binding, released)
		g.Expect(binding.Status.Problems).To(gomega.HaveLen(1))
		g.Expect(binding.Status.Ready).To(gomega.Equal("2/3"))
		g.Expect(eu.object(g, "v1", "ConfigMap", "released").GetLabels()).NotTo(gomega.HaveKey(v1alpha1.LabelHub))
	})
	a.awaitEvent("app", "eu", "Adopted", handmade, "kubectl-create")
	a.now("what others have set besides stays", func(g gomega.Gomega) {
		g.Expect(eu.data(g, "handmade")).To(gomega.HaveKeyWithValue("own", "yes"))
	})

	a.apply(inherited, "$ADOPT", "Always")
	a.awaitConverged("app")
	a.now("all of it is ours", func(g gomega.Gomega) {
		from(g, map[string]string{"released": "layer", "handmade": "layer", "absent": "layer"})
		g.Expect(a.binding(g, "app", "eu").Status.Problems).To(gomega.BeEmpty())
	})
}

// make creates a ConfigMap on the member, as a tool would that does not apply.
func (s *site) make(tool, name string, data, annotations map[string]string) {
	s.arena.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: s.arena.onHub(name), Data: data}
	configMap.Annotations = annotations
	if err := s.client.Create(s.arena.Context(), configMap, client.FieldOwner(tool)); err != nil {
		s.arena.Fatalf("make ConfigMap %s on %s: %v", name, s.name, err)
	}
}

// Whoever moves from kubectl apply must not keep, for ever, what kubectl's last apply held
// and the layer does not.
func TestKubectlAppliedObjectIsMigrated(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	eu.kubectlApply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {by: kubectl}}, data: {greeting: hi, old: setting}}`)
	eu.apply("colleague", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {team: blue}}}`)
	uid := eu.uid("v1", "ConfigMap", "web")

	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	a.now("kubectl's fields are gone, a colleague's are not", func(g gomega.Gomega) {
		web := eu.object(g, "v1", "ConfigMap", "web")
		g.Expect(web.GetUID()).To(gomega.Equal(uid))
		g.Expect(eu.data(g, "web")).To(gomega.Equal(map[string]string{"greeting": "hello"}))
		g.Expect(web.GetLabels()).To(gomega.HaveKeyWithValue("team", "blue"))
		g.Expect(web.GetLabels()).NotTo(gomega.HaveKey("by"))
		g.Expect(web.GetAnnotations()).NotTo(gomega.HaveKey(corev1.LastAppliedConfigAnnotation))
		for _, entry := range web.GetManagedFields() {
			g.Expect(entry.Manager).NotTo(gomega.ContainSubstring("kubectl"))
		}
	})
	a.awaitEvent("web", "eu", "Adopted", "ConfigMap "+a.namespace+"/web", "kubectl-client-side-apply", "colleague")
	eu.expectSilence()
}

// kubectlApply applies an object to the member as people did before server-side apply.
func (s *site) kubectlApply(yaml string) {
	s.arena.Helper()
	cmd := exec.CommandContext(s.arena.Context(), s.arena.fleet.Kubectl(), "--kubeconfig="+s.cluster.KubeconfigPath(),
		"apply", "--namespace="+s.arena.namespace, "--filename=-")
	cmd.Stdin = strings.NewReader(yaml)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.arena.Fatalf("kubectl apply on %s: %v\n%s", s.name, err, out)
	}
}
