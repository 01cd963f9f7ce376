package e2e

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range a.read(a.hub, string(content)) {
			a.create(strict, object)
		}
	}
}
