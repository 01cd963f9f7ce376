package member

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

const widgetSchemaURL = "/openapi/v3/apis/example.com/v1"

func widgetSchema(*http.Request) (int, any) {
	ports := map[string]any{
		"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{"port"},
		"items": map[string]any{"type": "object", "properties": map[string]any{"port": map[string]any{"type": "integer"}}},
	}
	return 200, map[string]any{"openapi": "3.0.0", "components": map[string]any{"schemas": map[string]any{
		"com.example.v1.Widget": map[string]any{
			"type":       "object",
			"properties": map[string]any{"ports": ports},
			"x-kubernetes-group-version-kind": []any{map[string]any{
				"group": "example.com", "version": "v1", "kind": "Widget",
			}},
		},
	}}}
}

func widgetIndex(hash string) any {
	return map[string]any{"paths": map[string]any{
		"apis/example.com/v1": map[string]any{"serverRelativeURL": widgetSchemaURL + "?hash=" + hash},
	}}
}

func TestSchemasAreSharedByContent(t *testing.T) {
	shared := NewSchemaCache()
	for i, hash := range []string{"one", "one", "two"} {
		f := newFakeAPI()
		f.on("GET /openapi/v3", 200, widgetIndex(hash))
		f.handle("GET "+widgetSchemaURL, widgetSchema)
		m := newTestMember(t, f, func(c *Config) { c.Schemas = shared })
		for range 2 {
			kind, found, err := m.Schema(t.Context(), widgetKind)
			if err != nil || !found {
				t.Fatalf("got %v, %v", found, err)
			}
			if _, err := kind.FromUnstructured(map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}); err != nil {
				t.Errorf("is no use: %v", err)
			}
		}
		want := map[int]int{0: 1, 1: 0, 2: 1}[i]
		if n := len(f.calls("GET " + widgetSchemaURL)); n != want {
			t.Errorf("member %d: read %d times, want %d", i, n, want)
		}
		if n := len(f.calls("GET /openapi/v3")); n != 1 {
			t.Errorf("member %d: the index was read %d times", i, n)
		}
	}
}

func TestASchemaComesWithItsDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		f.on("GET /openapi/v3", 200, map[string]any{"paths": map[string]any{}})
		m := newTestMember(t, f, nil)
		if _, found, err := m.Schema(t.Context(), widgetKind); found || err != nil {
			t.Errorf("got %v, %v", found, err)
		}
		f.on("GET /openapi/v3", 200, widgetIndex("one"))
		f.handle("GET "+widgetSchemaURL, widgetSchema)
		if _, found, err := m.Schema(t.Context(), widgetKind); !found || err != nil {
			t.Errorf("got %v, %v", found, err)
		}
		f.on("GET /openapi/v3", 503, "down") // F23
		time.Sleep(time.Hour)
		if _, found, err := m.Schema(t.Context(), widgetKind); !found || err != nil {
			t.Errorf("forgot a schema that it knew: %v, %v", found, err)
		}
	})
}
