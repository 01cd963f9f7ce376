package e2e

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// The values that must be found nowhere but in Secrets and on members. Each is of its own
// shape, so that no escape or number format hides it.
const (
	token = "s3ntinel-of-the-token"
	pin   = "481516234"
	wrong = "s3ntinel!of!the!wrong!base64"
)

const secretLayer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: web}
spec:
  order: 100
  clusterSelector: {}
  manifestsFrom:
  - secret: {name: manifests}
`

const credentials = `
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: $NS}
stringData: {token: "$TOKEN"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: $NS}
data: {greeting: "$TOKEN"}
`

func TestF47ValuesOfSecretsStayInSecrets(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	manifests := &corev1.Secret{ObjectMeta: a.onHub("manifests")}
	say := func(yaml string) {
		t.Helper()
		manifests.StringData = map[string]string{"all.yaml": replaced(yaml, "$NS", a.namespace, "$TOKEN", token, "$PIN", pin, "$WRONG", wrong)}
		var err error
		if manifests.UID == "" {
			err = a.hub.Create(a.Context(), manifests)
		} else {
			err = a.hub.Update(a.Context(), manifests)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say(credentials)
	a.apply(secretLayer)
	a.awaitConverged("web")
	a.now("the member has the values", func(g gomega.Gomega) {
		data := at(eu.object(g, "v1", "Secret", "credentials"), "data", "token")
		g.Expect(data).To(gomega.Equal(base64.StdEncoding.EncodeToString([]byte(token))))
	})
	eu.expectGreeting(token)

	// Drift is told by an event.
	eu.apply("vandal", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {greeting: graffiti}}`)
	eu.expectGreeting(token)
	eu.delete("v1", "Secret", "credentials")
	a.eventually("the Secret is back", func(g gomega.Gomega) { eu.object(g, "v1", "Secret", "credentials") })
	a.awaitConverged("web")

	// An integer where a string should be.
	say(credentials + `
---
{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: $NS}, stringData: {pin: $PIN}}
`)
	a.awaitProblem("web", "eu", complaint{"TypeMismatch", []string{"Secret " + a.namespace + "/other", "stringData.pin", "must be a string (quote it)"}})

	// A value that the member's server refuses, and quotes.
	say(credentials + `
---
{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: $NS}, data: {token: "$WRONG"}}
`)
	a.awaitProblem("web", "eu", complaint{"Invalid", []string{"Secret " + a.namespace + "/other"}})

	// A patch that fails on a Secret.
	say(credentials)
	a.apply(secretLayer + `
  patches:
  - target: {kind: Secret, name: credentials}
    jsonPatch: [{op: test, path: /stringData/token, value: something else}]
`)
	a.awaitProblem("web", "eu", complaint{"PatchFailed", []string{"Secret " + a.namespace + "/credentials", "/stringData/token"}})

	// YAML that does not parse, just where a value stands.
	say("apiVersion: v1\nkind: Secret\nstringData:\n  token: '$TOKEN' $PIN\n  other: [$TOKEN\n")
	a.awaitUnrendered("web", complaint{"InvalidManifest", []string{"Secret " + a.namespace + "/manifests", "all.yaml"}})

	say(credentials)
	a.apply(secretLayer)
	a.awaitConverged("web")
	a.expectNowhere(token, pin, wrong)
}

// expectNowhere looks for values in everything that the hub shows or says of the test.
func (a *arena) expectNowhere(values ...string) {
	a.Helper()
	places := map[string]string{}
	for _, list := range []client.ObjectList{
		&appsv1.ControllerRevisionList{}, &eventsv1.EventList{}, &corev1.EventList{}, &corev1.ConfigMapList{},
		&v1alpha1.LayerList{}, &v1alpha1.LayerBindingList{}, &v1alpha1.MemberClusterList{}, &v1alpha1.FederationList{},
	} {
		if err := a.hub.List(a.Context(), list); err != nil {
			a.Fatal(err)
		}
		_ = meta.EachListItem(list, func(o runtimeObject) error {
			named := o.(client.Object)
			if named.GetNamespace() != a.namespace && named.GetNamespace() != "" {
				return nil
			}
			raw, err := json.Marshal(o)
			if err != nil {
				a.Fatal(err)
			}
			places[a.kindOf(named)+" "+named.GetName()] = string(raw)
			return nil
		})
	}
	for _, replica := range product.Replicas {
		content, err := os.ReadFile(replica.LogPath())
		if err != nil {
			a.Fatal(err)
		}
		places["log of "+replica.Identity] = string(content)
	}
	if len(places) < 6 {
		a.Errorf("looked at no more than %v", len(places))
	}
	for _, value := range values {
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value))} {
			for place, text := range places {
				if strings.Contains(text, form) {
					a.Errorf("%q stands in %s", form, place)
				}
			}
		}
	}
}

func (a *arena) kindOf(o client.Object) string {
	gvk, err := a.hub.GroupVersionKindFor(o)
	if err != nil {
		return err.Error()
	}
	return gvk.GroupKind().String()
}
