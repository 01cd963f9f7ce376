package member

import (
	"slices"
	"strings"
	"testing"
)

// aggregatedOf is aggregated discovery of one version of a group.
func aggregatedOf(group, version, freshness string, kinds ...string) any {
	var list []any
	for _, kind := range kinds {
		list = append(list, map[string]any{
			"resource": strings.ToLower(kind) + "s", "responseKind": map[string]any{"kind": kind}, "scope": "Namespaced",
		})
	}
	return map[string]any{"kind": "APIGroupDiscoveryList", "items": []any{map[string]any{
		"metadata": map[string]any{"name": group},
		"versions": []any{map[string]any{"version": version, "freshness": freshness, "resources": list}},
	}}}
}

func TestKinds(t *testing.T) {
	f := newFakeAPI()
	f.on("GET /api", 200, aggregatedOf("", "v1", "Current", "Pod", "Node"))
	f.on("GET /apis", 200, aggregatedOf("apps", "v1", "Current", "Deployment"))
	kinds, err := newTestMember(t, f, nil).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, gvk := range kinds {
		names = append(names, gvk.GroupVersion().String()+"/"+gvk.Kind)
	}
	if want := []string{"v1/Pod", "v1/Node", "apps/v1/Deployment"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// What one group serves is not known: nobody can say that a kind is not served.
func TestKindsThatAreNotKnown(t *testing.T) {
	f := newFakeAPI()
	f.on("GET /api", 200, aggregatedOf("", "v1", "Current", "Pod"))
	f.on("GET /apis", 200, aggregatedOf("metrics.k8s.io", "v1beta1", "Stale"))
	m := newTestMember(t, f, nil)
	_, err := m.Kinds(t.Context())
	if got := Classify(err); got.Class != Transient || !strings.HasSuffix(got.Message, "metrics.k8s.io/v1beta1") {
		t.Errorf("stale: %+v", got)
	}
	f.on("GET /apis", 200, map[string]any{"kind": "APIGroupList"})
	_, err = m.Kinds(t.Context())
	if got := Classify(err); got.Class != Transient || !strings.Contains(got.Message, "does not aggregate") {
		t.Errorf("not aggregated: %+v", got)
	}
}
