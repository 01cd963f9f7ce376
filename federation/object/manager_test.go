package object_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/syncline-dev/syncline/federation/internal/golden"
	"github.com/syncline-dev/syncline/federation/object"
)

// TestManagers: who else holds fields of the live object, which of some fields, and which
// tool keeps it.
func TestManagers(t *testing.T) {
	golden.Run(t, "testdata/managers", resultMark, func(t *testing.T, input string) string {
		var out strings.Builder
		for i, text := range strings.Split(input, "\n---\n") {
			if i > 0 {
				line(&out, "---")
			}
			live := read(t, text)
			keeper, found := object.Keeper(live, hub, ours, ours+"-ceded")
			if !found {
				keeper = "nobody"
			}
			line(&out, "%s is kept by %s", object.Of(live), keeper)
			describeManagers(t, &out, live)
		}
		return out.String()
	})
}

func describeManagers(t *testing.T, out *strings.Builder, live *unstructured.Unstructured) {
	t.Helper()
	others, err := object.Managers(live, ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range others {
		line(out, "  also managed by %s (%s)", m.Name, strings.TrimSpace(string(m.Operation)+" "+m.Subresource))
	}
	if len(others) == 0 {
		return
	}
	for _, path := range []fieldpath.Path{
		fieldpath.MakePathOrDie("spec", "replicas"),
		fieldpath.MakePathOrDie("spec", "selector", "matchLabels"),
		fieldpath.MakePathOrDie("spec", "template", "spec", "nodeSelector", "disk"),
		fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "web"), "image"),
	} {
		for _, m := range others {
			if m.Holds(path) {
				line(out, "  %s is held by %s", path, m.Name)
			}
		}
	}
}

// TestManagersDamaged: what cannot be read is an error, and not that nobody manages.
func TestManagersDamaged(t *testing.T) {
	live := read(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  namespace: shop
  managedFields:
  - {manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"what:is": {}}}`)
	if others, err := object.Managers(live, ours); err == nil || !strings.Contains(err.Error(), "ConfigMap shop/c") {
		t.Errorf("%v, %v", others, err)
	}
	if got := object.Differences(map[string]any{"data": map[string]any{"a": "1"}}, live, ours); len(got) != 1 || !got[0].Missing {
		t.Errorf("%v", got)
	}
}
