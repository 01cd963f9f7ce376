package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

const (
	// hubNamespace is where members and layers are on the hub, namespace where objects are on
	// members.
	hubNamespace = "fleet"
	namespace    = "truth"
	// manager is the harness's own field manager.
	manager = "truth"
	// annotationContent says on a layer which content its manifests have.
	annotationContent = "truth.syncline.example/content"
)

var (
	layers     = v1alpha1.GroupVersion.WithResource("layers")
	bindings   = v1alpha1.GroupVersion.WithResource("layerbindings")
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	widgets    = schema.GroupVersionResource{Group: "syncline.example", Version: "v1", Resource: "widgets"}
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
)

// object is JSON, by the types that unstructured objects may hold.
type object = map[string]any

// baseLayer holds what the other layers' objects stand on. Widget is a kind whose status says
// which generation it is of.
func baseLayer() *unstructured.Unstructured {
	text := object{"type": "string"}
	condition := object{"type": "object", "properties": object{"type": text, "status": text}}
	schema := object{"type": "object", "properties": object{
		"spec": object{"type": "object", "properties": object{"content": text}},
		"status": object{"type": "object", "properties": object{
			"observedGeneration": object{"type": "integer"},
			"conditions":         object{"type": "array", "items": condition},
			"beats":              object{"type": "integer"},
		}},
	}}
	return layerOf("base", 0, "as it is", []any{
		object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": object{"name": widgets.GroupResource().String()},
			"spec": object{
				"group": widgets.Group, "scope": "Namespaced", "names": object{"plural": widgets.Resource, "kind": "Widget"},
				"versions": []any{object{
					"name": widgets.Version, "served": true, "storage": true,
					"subresources": object{"status": object{}}, "schema": object{"openAPIV3Schema": schema},
				}},
			},
		},
	})
}

func layerOf(name string, order int64, content string, manifests []any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindLayer,
		"metadata": object{
			"namespace": hubNamespace, "name": name, "annotations": object{annotationContent: content},
		},
		"spec": object{"order": order, "clusterSelector": object{}, "manifests": manifests},
	}}
}

// sketch is a layer of so many objects of each kind, all of which have the same content.
type sketch struct {
	name string
	each int
}

func (s sketch) layer(content string) *unstructured.Unstructured {
	var manifests []any
	add := func(kind, apiVersion, field string, i int) {
		text := expected(content, named(kind, s.object(i)))
		if text == "" {
			return
		}
		manifests = append(manifests, object{
			"apiVersion": apiVersion, "kind": kind, field: object{"content": text},
			"metadata": object{"namespace": namespace, "name": s.object(i)},
		})
	}
	for i := range s.each {
		add("ConfigMap", "v1", "data", i)
		add("Widget", widgets.GroupVersion().String(), "spec", i)
	}
	return layerOf(s.name, 100, content, manifests)
}

// object is the name of the i-th ConfigMap and the i-th Widget.
func (s sketch) object(i int) string { return fmt.Sprintf("%s-%d", s.name, i) }

// named is how a history of an object is called.
func named(kind, object string) string { return kind + " " + object }

const without = " without "

// lacking is the content of a revision that lacks one object, and is like another otherwise.
func lacking(content, name string) string { return content + without + name }

// expected is what an object has in a revision of a content; "" if the revision lacks it.
func expected(content, name string) string {
	text, lacks, _ := strings.Cut(content, without)
	if lacks == name {
		return ""
	}
	return text
}

// apply makes the layer what it is to be.
func (s *stage) apply(ctx context.Context, layer *unstructured.Unstructured) error {
	_, err := s.hub.Resource(layers).Namespace(hubNamespace).Apply(ctx, layer.GetName(), layer, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}

// makeNamespace makes the namespace of members and layers on the hub.
func (s *stage) makeNamespace(ctx context.Context) error {
	ns := &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": hubNamespace}}}
	_, err := s.hub.Resource(namespaces).Create(ctx, ns, metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
