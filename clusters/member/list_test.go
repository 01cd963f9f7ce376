package member

import (
	"net/http"
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestListReadsWhatIsSelected(t *testing.T) {
	f := newFakeAPI()
	f.on("GET /apis/example.com", 200, map[string]any{
		"kind":             "APIGroup",
		"preferredVersion": map[string]any{"version": "v2"},
		"versions":         []any{map[string]any{"version": "v2"}, map[string]any{"version": "v1"}},
	})
	f.on("GET /apis/example.com/v2", 200, resources("example.com/v2", resourceOf("gadgets", "Gadget", false)))
	f.on("GET /apis/example.com/v1", 200, resources("example.com/v1", resourceOf("widgets", "Widget", true)))
	one := map[string]any{
		"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "7"},
		"items": []any{map[string]any{"metadata": map[string]any{"name": "a"}}},
	}
	for path, selected := range map[string]v1alpha1.ObservedObjects{
		"/api/v1/configmaps?labelSelector=app%3Dweb&limit=3&timeout=10s":                          {Kind: "ConfigMap", LabelSelector: "app=web"},
		"/api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dca&limit=3&timeout=10s": {Kind: "ConfigMap", Namespace: "shop", Name: "ca"},
		"/apis/example.com/v2/gadgets?limit=3&timeout=10s":                                        {Group: "example.com", Kind: "Gadget"},
		"/apis/example.com/v1/widgets?limit=3&timeout=10s":                                        {Group: "example.com", Kind: "Widget"},
	} {
		m := newTestMember(t, f, nil)
		asked := ""
		answer := func(r *http.Request) (int, any) {
			asked = r.URL.RequestURI()
			return 200, one
		}
		for _, collection := range []string{
			"/api/v1/configmaps", "/api/v1/namespaces/shop/configmaps", "/apis/example.com/v2/gadgets", "/apis/example.com/v1/widgets",
		} {
			f.handle("GET "+collection, answer)
		}
		list, err := m.List(t.Context(), selected, 3)
		if err != nil || len(list.Items) != 1 || list.GetResourceVersion() != "7" {
			t.Errorf("%+v: %v, %v", selected, list, err)
		}
		if asked != path {
			t.Errorf("%+v: asked for %s, want %s", selected, asked, path)
		}
	}
}

func TestListThatIsCutOffIsAnError(t *testing.T) {
	f := newFakeAPI()
	f.on("GET /api/v1/configmaps", 200, map[string]any{
		"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{"continue": "there"}, "items": []any{},
	})
	_, err := newTestMember(t, f, nil).List(t.Context(), v1alpha1.ObservedObjects{Kind: "ConfigMap"}, 2)
	if failure := Classify(err); failure.Class != Terminal || failure.Message != "there are more than 2 such objects: select fewer" {
		t.Errorf("got %+v", failure)
	}
}

func TestListOfWhatCannotBe(t *testing.T) {
	f := newFakeAPI()
	m := newTestMember(t, f, nil)
	for reason, selected := range map[string]v1alpha1.ObservedObjects{
		ReasonKindNotServed: {Group: "example.com", Kind: "Widget"},
		ReasonWrongScope:    {Kind: "Namespace", Namespace: "shop"},
		ReasonInvalid:       {Kind: "ConfigMap", Namespace: "../secrets"},
	} {
		if _, err := m.List(t.Context(), selected, 2); Classify(err).Reason != reason {
			t.Errorf("%+v: %v, want %s", selected, err, reason)
		}
	}
}
