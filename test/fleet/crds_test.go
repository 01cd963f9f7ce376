package fleet

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The webhook is one that cannot answer: with it, reading v2 would fail.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.fleet.test
spec:
  group: fleet.test
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Cluster
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: "https://127.0.0.1:1/convert"}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

func TestInstalledCRDIsServedWithoutItsWebhook(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "widgets.yaml"), []byte(widgets), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := shared.InstallCRDs(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("fleet.test/v2")
	widget.SetKind("Widget")
	widget.SetName("one")
	shared.Hub().Create(t, widget)
}

func TestDirectoryWithoutCRDsIsRefused(t *testing.T) {
	if err := shared.InstallCRDs(t.Context(), t.TempDir()); err == nil {
		t.Error("an empty directory was accepted")
	}
}
