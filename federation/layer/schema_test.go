package layer_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
)

// gadgets is the OpenAPI of a member that has a kind of its own, whose parts have names.
const gadgets = `{"dev.example.v1.Gadget": {
  "type": "object",
  "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, "parts": {
    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}}},
  "x-kubernetes-group-version-kind": [{"group": "example.dev", "version": "v1", "kind": "Gadget"}]
}}`

// TestMemberSchemas: a kind that the member knows merges as its schema says, and one that
// nobody knows as its values look.
func TestMemberSchemas(t *testing.T) {
	var models map[string]*spec.Schema
	if err := json.Unmarshal([]byte(gadgets), &models); err != nil {
		t.Fatal(err)
	}
	member, err := layer.FromOpenAPI(models, "etag-1")
	if err != nil {
		t.Fatal(err)
	}
	gadget := func(parts ...any) map[string]any {
		return map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Gadget",
			"metadata": map[string]any{"name": "web"}, "parts": parts,
		}
	}
	part := func(name string, size int64) any { return map[string]any{"name": name, "size": size} }
	stack := layer.NewStack(
		layerOf(t, "base", 0, false, gadget(part("a", 1), part("b", 1))),
		layerOf(t, "app", 1, false, gadget(part("b", 2))))
	schemas := layer.Chain(layer.Builtin(), member)
	for name, c := range map[string]struct {
		schemas layer.Schemas
		want    []any
	}{
		"known":   {schemas, []any{part("a", 1), part("b", 2)}},
		"unknown": {layer.Builtin(), []any{part("b", 2)}},
	} {
		folded := stack.Fold(source.Facts{}, c.schemas)
		if diff := cmp.Diff(c.want, folded.Objects[0].Value["parts"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := schemas.Fingerprint(); got != "builtin+etag-1" {
		t.Errorf("fingerprint %s", got)
	}
	cache := layer.NewCache(4)
	if cache.Fold(stack, source.Facts{}, schemas) == cache.Fold(stack, source.Facts{}, layer.Builtin()) {
		t.Error("a fold is shared between schemas")
	}
}

// TestBuiltinKnowsKinds: the built-in kinds are known, others are not.
func TestBuiltinKnowsKinds(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]bool{
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                       true,
		{Version: "v1", Kind: "Service"}:                                         true,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}: true,
		{Group: "example.dev", Version: "v1", Kind: "Gadget"}:                    false,
		{Group: "apps", Version: "v9", Kind: "Deployment"}:                       false,
	} {
		if _, ok := layer.Builtin().Type(kind); ok != want {
			t.Errorf("%s known: %v", kind, ok)
		}
	}
}
