package e2e

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/install"
)

// A hub takes what deploy/manager says, to the last field.
func TestTheManagersManifestsAreTaken(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	strict := client.WithFieldValidation(client.NewDryRunClient(a.hub), metav1.FieldValidationStrict)
	files, err := filepath.Glob(install.Path("deploy", "manager", "*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files in deploy/manager: %v", len(files), err)
	}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		documents := yaml.NewYAMLOrJSONDecoder(file, 4096)
		for {
			object := &unstructured.Unstructured{}
			err := documents.Decode(object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = strict.Create(t.Context(), object)
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
	}
}
