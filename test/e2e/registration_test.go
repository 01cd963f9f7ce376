package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

func TestNewSecretAddsAMember(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	a.register("us")
	a.expectGreeting("hello")
	a.awaitConverged("web")
	a.now("the member is described", func(g gomega.Gomega) {
		status := a.member(g, "us").Status
		g.Expect(status.Version).To(gomega.HavePrefix("v1."))
		g.Expect(status.UID).NotTo(gomega.BeEmpty())
		g.Expect(hub.OwnerOf(a.member(g, "us"))).To(gomega.HavePrefix("hub-"))
		g.Expect(status.CredentialsExpire).NotTo(gomega.BeNil())
		g.Expect(status.LastSeen).To(gomega.BeNil())
	})
	a.eventually("the member counts its layers", func(g gomega.Gomega) {
		g.Expect(a.member(g, "us").Status.Layers).To(gomega.Equal("1/1"))
	})
}

// No Cluster of Cluster API, just a Secret of its shape.
func TestKubeconfigSecretAloneMakesAMember(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.apply(webLayer, "$GREETING", "hello", "clusterSelector: {}", "clusterSelector: {matchLabels: {tier: edge}}")
	solo := a.registerSecret("solo", a.fleet.Member("us"), map[string]string{"tier": "edge"})
	a.awaitReady("solo")
	a.awaitConvergedOn("web", 1)
	solo.expectGreeting("hello")
	uid := solo.uid("v1", "ConfigMap", "web")

	a.remove(&corev1.Secret{ObjectMeta: a.onHub("solo-kubeconfig")})
	a.eventually("the member and its bindings go", func(g gomega.Gomega) {
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.MemberClusterList{}, client.InNamespace(a.namespace))).To(gomega.ConsistOf("eu"))
		g.Expect(namesOf(a.Context(), a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty())
	})
	a.awaitConvergedOn("web", 0)
	a.eventually("what stays on the member is told", func(g gomega.Gomega) {
		var list eventsv1.EventList
		g.Expect(a.hub.List(a.Context(), &list, client.InNamespace(a.namespace))).To(gomega.Succeed())
		g.Expect(list.Items).To(gomega.ContainElement(gomega.Satisfy(func(e eventsv1.Event) bool {
			return e.Reason == "Orphaned" && e.Regarding.Name == "web"
		})))
	})
	if now := solo.uid("v1", "ConfigMap", "web"); now != uid {
		t.Error("the member's object did not stay as it was")
	}
}

// One member's kubeconfig is rotated: the new one serves.
func TestRotatedKubeconfigTakesOver(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	eu := a.site("eu")
	kubeconfig, err := eu.cluster.KubeconfigFor("rotated", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	since := eu.cluster.Audit().End()
	secret := &corev1.Secret{}
	if err := a.hub.Get(t.Context(), client.ObjectKey{Namespace: a.namespace, Name: "eu-kubeconfig"}, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["value"] = kubeconfig
	if err := a.hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	edits := 0
	a.eventually("the new user is the one that writes", func(g gomega.Gomega) {
		edits++
		a.apply(webLayer, "$GREETING", fmt.Sprintf("edit-%d", edits))
		events, _, err := eu.cluster.Audit().Events(since, eu.ours)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(slices.ContainsFunc(events, isWriteOf("rotated"))).To(gomega.BeTrue())
	})
	a.expectGreeting(fmt.Sprintf("edit-%d", edits))
	a.awaitConverged("web")
}

func TestF06KubeconfigThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	a := emptyArena(t, shared, nameFor(t))
	touched := t.TempDir() + "/touched"
	good, err := a.fleet.Member("eu").Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	const kubeconfig = `
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: $USER}]
`
	users := func(user string) map[string][]byte {
		return map[string][]byte{"value": []byte(replaced(kubeconfig, "$USER", user))}
	}
	cases := map[string]struct {
		data map[string][]byte
		complaint
	}{
		"extra-keys": {map[string][]byte{"admin.conf": good}, complaint{"NoValue", []string{"data.value", `no key "value"`}}},
		"empty":      {map[string][]byte{"a": good, "value": nil}, complaint{"EmptyValue", []string{"data.value"}}},
		"no-yaml":    {map[string][]byte{"value": []byte("a: [b")}, complaint{"NotYAML", []string{"data.value"}}},
		"exec": {
			users(`{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: ["` + touched + `"], interactiveMode: Never}}`),
			complaint{"ExecPlugin", []string{"users[u]", "exec"}},
		},
		"file": {users(`{client-certificate: /etc/passwd, client-key: /etc/passwd}`), complaint{"FileReference", []string{"client-certificate-data"}}},
	}
	for member, bad := range cases {
		a.create(a.hub, kubeconfigSecret(a.namespace, member, bad.data))
	}
	for member, bad := range cases {
		a.eventually("member "+member+" complains of "+bad.reason, func(g gomega.Gomega) {
			status := a.member(g, member).Status
			for _, kind := range []string{v1alpha1.ConditionRegistered, v1alpha1.ConditionReady} {
				c := condition(status.Conditions, kind)
				g.Expect(c.Status).To(gomega.Equal(metav1.ConditionFalse), kind)
				bad.check(g, c.Reason, c.Message)
				g.Expect(c.Message).To(gomega.ContainSubstring("Secret " + a.namespace + "/" + member + "-kubeconfig"))
			}
		})
	}
	expectNoFile(t, touched)

	// A Secret that is put right makes a member.
	secret := kubeconfigSecret(a.namespace, "extra-keys", map[string][]byte{"admin.conf": []byte("ignored"), "value": good})
	if err := a.hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	a.awaitReady("extra-keys")
}
