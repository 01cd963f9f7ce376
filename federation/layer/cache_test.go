package layer_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
)

func configMap(name string, data map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": name, "namespace": "shop"},
	}
}

// TestCacheShares: what decides a fold, and only that, tells folds apart.
func TestCacheShares(t *testing.T) {
	base := layerOf(t, "base", 0, false, configMap("c", map[string]any{"a": "1"}))
	app := layerOf(t, "app", 1, false, configMap("c", map[string]any{"a": "2"}))
	ignoring := app
	ignoring.Ignore = []v1alpha1.IgnoreRule{{Target: v1alpha1.Target{Kind: "ConfigMap"}, Paths: []string{"/data/a"}}}
	sometimes := app
	sometimes.Ignore = []v1alpha1.IgnoreRule{{Target: v1alpha1.Target{Kind: "ConfigMap"}, When: "object.data.a == '1'", Paths: []string{"/data/a"}}}
	templated := app
	templated.Content.Template = v1alpha1.TemplateCEL
	templated.Revision = "app-templated"
	nameless := app
	nameless.Revision = ""

	eu, us := source.Facts{Name: "eu-1"}, source.Facts{Name: "us-1"}
	cache := layer.NewCache(16)
	fold := func(facts source.Facts, layers ...layer.Layer) *layer.Folded {
		return cache.Fold(layer.NewStack(layers...), facts, layer.Builtin())
	}
	for _, c := range []struct {
		name string
		a, b *layer.Folded
		same bool
	}{
		{"the same stack of two members", fold(eu, base, app), fold(us, base, app), true},
		{"layers in another order of arrival", fold(eu, base, app), fold(eu, app, base), true},
		{"one layer less", fold(eu, base, app), fold(eu, base), false},
		{"other ignore rules", fold(eu, base, app), fold(eu, base, ignoring), false},
		{"ignore rules with another condition", fold(eu, base, ignoring), fold(eu, base, sometimes), false},
		{"templates for the same member", fold(eu, base, templated), fold(eu, base, templated), true},
		{"templates for two members", fold(eu, base, templated), fold(us, base, templated), false},
		{"no revision", fold(eu, base, nameless), fold(eu, base, nameless), false},
	} {
		if got := c.a == c.b; got != c.same {
			t.Errorf("%s: shared is %v, want %v", c.name, got, c.same)
		}
	}
}

// TestCacheIsBounded: what was not used for long is folded anew.
func TestCacheIsBounded(t *testing.T) {
	cache := layer.NewCache(1)
	one := layer.NewStack(layerOf(t, "one", 0, false, configMap("c", nil)))
	two := layer.NewStack(layerOf(t, "two", 0, false, configMap("c", nil)))
	first := cache.Fold(one, source.Facts{}, layer.Builtin())
	cache.Fold(two, source.Facts{}, layer.Builtin())
	if cache.Fold(one, source.Facts{}, layer.Builtin()) == first {
		t.Error("a cache of one remembers two")
	}
}

// TestCacheConcurrently: many callers get one fold, and reading it does not race.
func TestCacheConcurrently(t *testing.T) {
	stack := layer.NewStack(
		layerOf(t, "base", 0, true, configMap("c", map[string]any{"a": "1"})),
		layerOf(t, "app", 1, false, configMap("c", map[string]any{"a": "2"})))
	cache := layer.NewCache(4)
	results := make([]*layer.Folded, 16)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			results[i] = cache.Fold(stack, source.Facts{}, layer.Builtin())
			_ = results[i].Objects[0].Leaves()
			results[i].Objects[0].Unstructured().SetName("other")
		})
	}
	group.Wait()
	for _, r := range results {
		if r != results[0] {
			t.Fatal("two folds of one stack")
		}
	}
}

// BenchmarkFold folds three layers of a Deployment, from their stored content on.
func BenchmarkFold(b *testing.B) {
	stack := deploymentStack(b)
	schemas := layer.Builtin()
	b.ReportAllocs()
	for b.Loop() {
		folded := stack.Fold(source.Facts{Name: "eu-1"}, schemas)
		if len(folded.Problems) > 0 || len(folded.Objects) != 1 {
			b.Fatal(folded.Problems)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "fold_us")
}

// BenchmarkFoldCached is what a pass at rest pays.
func BenchmarkFoldCached(b *testing.B) {
	stack := deploymentStack(b)
	cache := layer.NewCache(4)
	b.ReportAllocs()
	for b.Loop() {
		cache.Fold(stack, source.Facts{Name: "eu-1"}, layer.Builtin())
	}
}

func deploymentStack(b *testing.B) layer.Stack {
	b.Helper()
	var layers []layer.Layer
	for i, manifest := range []string{
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},
		  "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
		  "spec":{"serviceAccountName":"web","containers":[{"name":"web","image":"web:2.1","ports":[{"containerPort":80}],
		  "env":[{"name":"DEBUG","value":"1"},{"name":"COLOUR","value":"blue"}],
		  "resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"memory":"128Mi"}},
		  "readinessProbe":{"httpGet":{"path":"/ready","port":80}}}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","annotations":{"team":"web"}},
		  "spec":{"template":{"spec":{"nodeSelector":{"pool":"general"},"containers":[{"name":"web","securityContext":{"runAsNonRoot":true}},
		  {"name":"proxy","image":"proxy:1","ports":[{"containerPort":15001}]}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},
		  "spec":{"replicas":4,"template":{"spec":{"containers":[{"name":"web","env":[{"name":"CLUSTER","value":"eu-1"},{"name":"DEBUG","value":null}]}]}}}}`,
	} {
		name := []string{"web", "platform", "region"}[i]
		content := source.Content{Order: int32(i), Manifests: []json.RawMessage{json.RawMessage(manifest)}}
		layers = append(layers, layer.Layer{
			Ref: layer.Ref{Kind: v1alpha1.KindClusterLayer, Name: name}, Revision: name, Content: content,
		})
	}
	return layer.NewStack(layers...)
}
