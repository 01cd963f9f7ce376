package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
	hubobjects "github.com/syncline-dev/syncline/reconcilers/hub"
)

// hubFiles is what files hold of a hub's objects: layers, and what layers may read.
type hubFiles struct {
	layers  []v1alpha1.Layered
	sources map[sourceKey]map[string][]byte
	decoder runtime.Decoder
}

// sourceKey names a ConfigMap or Secret.
type sourceKey struct {
	kind string
	types.NamespacedName
}

// fileScheme knows the kinds that are looked for.
func fileScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.ConfigMap{}, &corev1.Secret{})
	return scheme
}

// readFiles reads files, the YAML and JSON files of directories, and "-".
func readFiles(paths []string, recursive bool, in io.Reader) (*hubFiles, error) {
	files := &hubFiles{
		sources: map[sourceKey]map[string][]byte{},
		decoder: serializer.NewCodecFactory(fileScheme(), serializer.EnableStrict).UniversalDeserializer(),
	}
	for _, path := range paths {
		if path == "-" {
			content, err := io.ReadAll(in)
			if err == nil {
				err = files.add("standard input", content)
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := files.walk(path, recursive); err != nil {
			return nil, err
		}
	}
	if len(files.layers) == 0 {
		return nil, fmt.Errorf("there is no Layer or ClusterLayer of %s in %s (directories within one are read with -R)", v1alpha1.GroupVersion, strings.Join(paths, ", "))
	}
	return files, nil
}

func (f *hubFiles) walk(root string, recursive bool) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && !recursive:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case path != root && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return f.add(path, content)
	})
}

// add reads the documents of one file.
func (f *hubFiles) add(name string, content []byte) error {
	documents, err := source.ReadDocuments(name, content)
	if err != nil {
		return err
	}
	for _, document := range documents {
		if err := f.addObject(document); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// addObject takes a layer or what a layer may read, and passes over anything else. Fields
// that the API does not know are errors: the hub would drop them.
func (f *hubFiles) addObject(document json.RawMessage) error {
	decoded, _, err := f.decoder.Decode(document, nil, nil)
	if runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) || runtime.IsMissingVersion(err) {
		return nil
	}
	switch o := decoded.(type) {
	case v1alpha1.Layered:
		if err != nil {
			return fmt.Errorf("%s: %w", hubobjects.Describe(o), err)
		}
		return f.addLayer(o)
	case *corev1.ConfigMap:
		f.addSource("ConfigMap", o.Namespace, o.Name, o.BinaryData, o.Data)
	case *corev1.Secret:
		f.addSource("Secret", o.Namespace, o.Name, o.Data, o.StringData)
	case nil:
		return err
	}
	return nil
}

func (f *hubFiles) addLayer(l v1alpha1.Layered) error {
	if l.GetName() == "" {
		return errors.New(l.LayerKind() + ": metadata.name must be set")
	}
	if l.LayerKind() == v1alpha1.KindClusterLayer {
		l.SetNamespace("")
	}
	for _, other := range f.layers {
		if layer.RefOf(other) == layer.RefOf(l) {
			return fmt.Errorf("%s is in the files twice: keep one", hubobjects.Describe(l))
		}
	}
	f.layers = append(f.layers, l)
	return nil
}

func (f *hubFiles) addSource(kind, namespace, name string, data map[string][]byte, text map[string]string) {
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range text {
		data[key] = []byte(value)
	}
	f.sources[sourceKey{kind, types.NamespacedName{Namespace: namespace, Name: name}}] = data
}

// namespaces are those that Layers name.
func (f *hubFiles) namespaces() []string {
	named := map[string]bool{}
	for _, l := range f.layers {
		if l.GetNamespace() != "" {
			named[l.GetNamespace()] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// settle puts what names no namespace into one, as kubectl apply would.
func (f *hubFiles) settle(namespace string) {
	for _, l := range f.layers {
		if l.LayerKind() == v1alpha1.KindLayer && l.GetNamespace() == "" {
			l.SetNamespace(namespace)
		}
	}
	for key, data := range maps.Clone(f.sources) {
		if key.Namespace == "" {
			key.Namespace = namespace
			f.sources[key] = data
		}
	}
}

// data reads what the files hold; see revision.Data.
func (f *hubFiles) data(_ context.Context, kind string, key types.NamespacedName) (map[string][]byte, error) {
	data, ok := f.sources[sourceKey{kind, key}]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.String())
	}
	return data, nil
}
