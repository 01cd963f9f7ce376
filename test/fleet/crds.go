package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	clusterAPIModule = "sigs.k8s.io/cluster-api"
	// clusterCRD is the one of that module's CRDs that a hub needs for Register.
	// All thirteen would take seconds of CPU time and 80 MB.
	clusterCRD = "core/config/crd/bases/cluster.x-k8s.io_clusters.yaml"

	fieldOwner = client.FieldOwner("fleet")
)

// InstallCRDs applies the CustomResourceDefinitions of all YAML files in the
// directories to the hub, and waits until they are served. Conversion webhooks
// are left out, since nothing would answer them: all versions of a kind then hold
// the same fields.
func (f *Fleet) InstallCRDs(ctx context.Context, dirs ...string) error {
	var files []string
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			return fmt.Errorf("list %s: %w", dir, err)
		}
		if len(found) == 0 {
			return fmt.Errorf("no YAML file in %s", dir)
		}
		files = append(files, found...)
	}
	return f.installCRDs(ctx, files...)
}

func (f *Fleet) installCRDs(ctx context.Context, files ...string) error {
	cl, err := f.hub.Client(nil)
	if err != nil {
		return err
	}
	var crds []*unstructured.Unstructured
	for _, file := range files {
		found, err := readCRDs(file)
		if err != nil {
			return fmt.Errorf("read CRDs: %w", err)
		}
		crds = append(crds, found...)
	}
	// All are applied before the first is waited for: the API server publishes
	// them one after another anyway.
	for _, crd := range crds {
		unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
		err := cl.Apply(ctx, client.ApplyConfigurationFromUnstructured(crd), fieldOwner, client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("apply CRD %s: %w", crd.GetName(), err)
		}
	}
	for _, crd := range crds {
		if err := waitEstablished(ctx, cl, crd.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func waitEstablished(ctx context.Context, cl client.Client, name string) error {
	return poll(ctx, "CRD "+name+" to be established", func(ctx context.Context) (bool, error) {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := cl.Get(ctx, client.ObjectKey{Name: name}, &crd); err != nil {
			return false, err
		}
		return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		}), nil
	})
}

// readCRDs returns the CustomResourceDefinitions in a file; other kinds, such as
// a kustomization, are passed over.
func readCRDs(file string) ([]*unstructured.Unstructured, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	objects, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", file, err)
	}
	return slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() != "CustomResourceDefinition"
	}), nil
}

func decode(content []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}
