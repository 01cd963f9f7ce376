package layer

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// customSchemas knows the kinds that the CustomResourceDefinitions of a stack define. It
// lives for one fold and is not safe for concurrent use. A schema that cannot be read
// leaves its kind unknown: the member's API refuses such a definition and says why.
type customSchemas struct {
	definitions map[schema.GroupKind]map[string]any
	types       map[schema.GroupVersionKind]typed.ParseableType
}

func newCustomSchemas() *customSchemas {
	return &customSchemas{
		definitions: map[schema.GroupKind]map[string]any{},
		types:       map[schema.GroupVersionKind]typed.ParseableType{},
	}
}

// add takes a folded CustomResourceDefinition.
func (s *customSchemas) add(definition map[string]any) {
	group, _, _ := unstructured.NestedString(definition, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition, "spec", "names", "kind")
	s.definitions[schema.GroupKind{Group: group, Kind: kind}] = definition
}

// lookup is the type of a custom kind. Schemas are large and most are never asked for, so
// each is read when it is.
func (s *customSchemas) lookup(gvk schema.GroupVersionKind) (typed.ParseableType, bool) {
	if t, ok := s.types[gvk]; ok {
		return t, t.Schema != nil
	}
	definition, ok := s.definitions[gvk.GroupKind()]
	if !ok {
		return typed.ParseableType{}, false
	}
	t, err := customType(definition, gvk.Version)
	if err != nil {
		t = typed.ParseableType{}
	}
	s.types[gvk] = t
	return t, t.Schema != nil
}

func customType(definition map[string]any, version string) (typed.ParseableType, error) {
	versions, _, _ := unstructured.NestedSlice(definition, "spec", "versions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version {
			continue
		}
		structural, _, _ := unstructured.NestedMap(v, "schema", "openAPIV3Schema")
		return structuralType(structural)
	}
	return typed.ParseableType{}, fmt.Errorf("no version %s", version)
}

const (
	customModel   = "custom"
	metaPrefix    = "io.k8s.apimachinery.pkg.apis.meta.v1."
	metadataModel = metaPrefix + "ObjectMeta"
)

// structuralType converts a structural schema. As in the API server, metadata is an
// ObjectMeta whatever the schema says.
func structuralType(structural map[string]any) (typed.ParseableType, error) {
	raw, err := json.Marshal(structural)
	if err != nil {
		return typed.ParseableType{}, err
	}
	model := &spec.Schema{}
	if err := json.Unmarshal(raw, model); err != nil {
		return typed.ParseableType{}, err
	}
	if model.Properties == nil {
		model.Properties = map[string]spec.Schema{}
	}
	model.Properties["metadata"] = *spec.RefSchema("#/definitions/" + metadataModel)
	converted, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{customModel: model}, false)
	if err != nil {
		return typed.ParseableType{}, err
	}
	parser := &typed.Parser{Schema: smd.Schema{Types: append(converted.Types, metaTypes()...)}}
	return parser.Type(customModel), nil
}

// metaTypes are the types that ObjectMeta is made of, from the built-in schema.
func metaTypes() []smd.TypeDef {
	t, _ := Builtin().Type(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	var types []smd.TypeDef
	for _, definition := range t.Schema.Types {
		if strings.HasPrefix(definition.Name, metaPrefix) {
			types = append(types, definition)
		}
	}
	return types
}
