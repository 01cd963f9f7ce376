package member

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/syncline-dev/syncline/federation/object"
)

const configMapA = "/api/v1/namespaces/shop/configmaps/a"

func TestApplyIsSeenAtOnce(t *testing.T) {
	f := newFakeAPI()
	f.handle("PATCH "+configMapA, func(req *http.Request) (int, any) { return 200, configMap("a", "7").Object })
	m := newTestMember(t, f, nil)
	applied, err := m.Apply(t.Context(), configMap("a", ""))
	if err != nil {
		t.Fatal(err)
	}
	seen, found := m.Seen(idOf("a"))
	if !found || seen != applied.Observation || seen.ResourceVersion != "7" || seen.UID != "uid-a" {
		t.Errorf("seen %+v (%v), applied %+v", seen, found, applied)
	}
	req := f.calls("PATCH " + configMapA)[0]
	for param, want := range map[string]string{"fieldManager": "syncline", "force": "true", "fieldValidation": "Strict"} {
		if got := req.URL.Query().Get(param); got != want {
			t.Errorf("%s is %q, want %q", param, got, want)
		}
	}
	if got := req.Header.Get("Content-Type"); got != "application/apply-patch+yaml" {
		t.Errorf("sent as %s", got)
	}
	if got := req.Header.Get("User-Agent"); got != "syncline (hub-0)" {
		t.Errorf("sent by %s", got)
	}
}

func TestApplySettlesTheNamespace(t *testing.T) {
	f := newFakeAPI()
	f.handle("PATCH /api/v1/namespaces/default/configmaps/a", func(*http.Request) (int, any) {
		live := configMap("a", "7")
		live.SetNamespace("default")
		return 200, live.Object
	})
	m := newTestMember(t, f, nil)
	u := configMap("a", "")
	u.SetNamespace("")
	if applied, err := m.Apply(t.Context(), u); err != nil || applied.ID.Namespace != "default" {
		t.Errorf("got %+v, %v", applied, err)
	}
	if u.GetNamespace() != "" {
		t.Error("the caller's object was changed")
	}
	u.SetKind("Namespace")
	u.SetNamespace("shop")
	_, err := m.Apply(t.Context(), u)
	if f := Classify(err); f.Reason != ReasonWrongScope || f.Class != Terminal || !strings.Contains(f.Message, `"shop"`) {
		t.Errorf("got %+v", f)
	}
}

func TestNamesDoNotClimb(t *testing.T) {
	m := newTestMember(t, newFakeAPI(), nil)
	for _, name := range []string{"", "..", "../../secrets/a", "a%2f"} {
		_, err := m.Apply(t.Context(), configMap(name, ""))
		if f := Classify(err); f.Reason != ReasonInvalid || f.Class != Terminal {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func TestDelete(t *testing.T) {
	for name, test := range map[string]struct {
		code   int
		answer any
		want   error
		reason string
	}{
		"done":    {code: 200, answer: map[string]any{"kind": "Status", "status": "Success"}},
		"is gone": {code: 404, answer: status(404, "NotFound", `configmaps "a" not found`, map[string]any{"name": "a", "kind": "configmaps"})},
		"another object": {
			code: 409, want: ErrReplaced, reason: ReasonReplaced,
			answer: status(409, "Conflict", "Precondition failed: UID in precondition: x, UID in object meta: y", nil),
		},
		"not served any more": {code: 404, answer: "404 page not found", reason: ReasonKindNotServed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			f.on("DELETE "+configMapA, test.code, test.answer)
			m := newTestMember(t, f, nil)
			err := m.Delete(t.Context(), idOf("a"), "v1", "uid-a")
			if reason := Classify(err).Reason; reason != test.reason {
				t.Errorf("got %v (%s)", err, reason)
			}
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestGet(t *testing.T) {
	f := newFakeAPI()
	f.on("GET "+configMapA, 200, configMap("a", "7").Object)
	m := newTestMember(t, f, nil)
	if live, err := m.Get(t.Context(), idOf("a"), "v1"); err != nil || live.GetResourceVersion() != "7" {
		t.Errorf("got %v, %v", live, err)
	}
	f.on("GET "+configMapA, 404, status(404, "NotFound", `configmaps "a" not found`, map[string]any{"name": "a", "kind": "configmaps"}))
	if _, err := m.Get(t.Context(), idOf("a"), "v1"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestWarningsAreCollected(t *testing.T) {
	m := newTestMember(t, newFakeAPI(), func(c *Config) {
		api := c.REST.Transport
		c.REST.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodPatch {
				return api.RoundTrip(req)
			}
			resp := respond(req, 200, configMap("a", "7").Object)
			resp.Header.Set("Warning", `299 - "v1 is deprecated"`)
			return resp, nil
		})
	})
	applied, err := m.Apply(t.Context(), configMap("a", ""))
	if err != nil || len(applied.Warnings) != 1 || applied.Warnings[0] != "v1 is deprecated" {
		t.Errorf("got %q, %v", applied.Warnings, err)
	}
}

// F47: a server quotes what it refuses; of a Secret, nothing is passed on.
func TestAServersWordsAboutASecretAreWithheld(t *testing.T) {
	const canary = "c4n4ry"
	for name, answer := range map[string]any{
		"validation": status(422, "Invalid", `Secret "a" is invalid: data[x y]: Invalid value: "`+canary+`": bad`, map[string]any{
			"name": "a", "kind": "Secret",
			"causes": []any{map[string]any{"reason": "FieldValueInvalid", "field": "data[x y]", "message": "Invalid value: " + canary}},
		}),
		"decoding": status(400, "BadRequest", "json: cannot unmarshal number "+canary, nil),
		"webhook":  status(403, "Forbidden", `admission webhook "w" denied the request: `+canary, nil),
		"server":   status(500, "InternalError", "panic: "+canary, nil),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			code := answer.(map[string]any)["code"].(int)
			f.on("PATCH /api/v1/namespaces/shop/secrets/a", code, answer)
			m := newTestMember(t, f, nil)
			secret := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "shop", "name": "a"},
			}}
			_, err := m.Apply(t.Context(), secret)
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), canary) {
					t.Errorf("the value is in %v", e)
				}
			}
			f2 := Classify(err)
			if strings.Contains(f2.Message, canary) || f2.Reason == "" {
				t.Errorf("got %+v", f2)
			}
			if name == "validation" && !strings.Contains(f2.Message, "data[x y]") {
				t.Errorf("the field is not named: %s", f2.Message)
			}
		})
	}
	rbac := status(403, "Forbidden", `secrets "a" is forbidden: User "hub" cannot patch resource "secrets"`, nil)
	f := newFakeAPI()
	f.on("GET /api/v1/namespaces/shop/secrets/a", 403, rbac)
	_, err := newTestMember(t, f, nil).Get(t.Context(), object.ID{Kind: "Secret", Namespace: "shop", Name: "a"}, "v1")
	if !strings.Contains(err.Error(), "cannot patch resource") {
		t.Errorf("the authorizer's words are withheld: %v", err)
	}
}
