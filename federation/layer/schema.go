package layer

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Schemas knows the types of kinds. Implementations are immutable and safe for concurrent
// use.
type Schemas interface {
	// Type is the type of a kind, or false for a kind that is not known. An unknown kind's
	// types are deduced from its values: maps merge, lists are whole.
	Type(gvk schema.GroupVersionKind) (typed.ParseableType, bool)
	// Fingerprint is equal for schemas that give equal types to all kinds.
	Fingerprint() string
}

// Builtin knows the kinds of Kubernetes itself, as of the client-go that is built in. The
// first call takes some hundred milliseconds.
func Builtin() Schemas { return builtin() }

var builtin = sync.OnceValue(func() Schemas {
	return converterSchemas{
		converter:   applyconfigurations.NewTypeConverter(scheme.Scheme),
		fingerprint: "builtin",
	}
})

// FromOpenAPI knows the kinds of an API server's OpenAPI v3 models. The fingerprint stands
// for the models: a digest or the server's ETag.
func FromOpenAPI(models map[string]*spec.Schema, fingerprint string) (Schemas, error) {
	converter, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		return nil, fmt.Errorf("schemas %s: %w", fingerprint, err)
	}
	return converterSchemas{converter: converter, fingerprint: fingerprint}, nil
}

// converterSchemas reads types off a type converter, which does not give them away but
// carries them on every value it makes.
type converterSchemas struct {
	converter   managedfields.TypeConverter
	fingerprint string
}

func (s converterSchemas) Type(gvk schema.GroupVersionKind) (typed.ParseableType, bool) {
	specimen := &unstructured.Unstructured{Object: map[string]any{}}
	specimen.SetGroupVersionKind(gvk)
	value, err := s.converter.ObjectToTyped(specimen)
	if err != nil {
		return typed.ParseableType{}, false
	}
	return typed.ParseableType{Schema: value.Schema(), TypeRef: value.TypeRef()}, true
}

func (s converterSchemas) Fingerprint() string { return s.fingerprint }

// Chain asks each in turn; the first that knows a kind answers for it.
func Chain(schemas ...Schemas) Schemas { return chain(schemas) }

type chain []Schemas

func (c chain) Type(gvk schema.GroupVersionKind) (typed.ParseableType, bool) {
	for _, s := range c {
		if t, ok := s.Type(gvk); ok {
			return t, true
		}
	}
	return typed.ParseableType{}, false
}

func (c chain) Fingerprint() string {
	prints := make([]string, len(c))
	for i, s := range c {
		prints[i] = s.Fingerprint()
	}
	return strings.Join(prints, "+")
}
