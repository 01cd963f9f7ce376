package layer

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// form is how values of different layers meet.
type form int

const (
	// whole values do not meet: the one that rules is taken as it is. Scalars, and the lists
	// and maps that the API calls atomic.
	whole form = iota
	// fields meet by their names.
	fields
	// entries of a list meet by the keys that the API gives the list.
	entries
	// members of a list are a set of scalars.
	members
)

// place is a place in a schema.
type place struct {
	schema *schema.Schema
	ref    schema.TypeRef
}

// deduced is a place of which no schema knows.
var deduced = place{schema: typed.DeducedParseableType.Schema, ref: typed.DeducedParseableType.TypeRef}

func placeOf(t typed.ParseableType) place { return place{schema: t.Schema, ref: t.TypeRef} }

// resolve is the form of a value at this place, and the type that has that form. The error
// says which type the schema wants.
func (p place) resolve(value any) (form, schema.Atom, error) {
	atom, ok := p.schema.Resolve(p.ref)
	if !ok {
		return deduced.resolve(value)
	}
	switch value.(type) {
	case map[string]any:
		if atom.Map == nil {
			break
		}
		if atom.Map.ElementRelationship == schema.Atomic {
			return whole, atom, nil
		}
		return fields, atom, nil
	case []any:
		switch {
		case atom.List == nil:
		case atom.List.ElementRelationship != schema.Associative:
			return whole, atom, nil
		case len(atom.List.Keys) > 0:
			return entries, atom, nil
		default:
			return members, atom, nil
		}
	default:
		if atom.Scalar != nil && fits(*atom.Scalar, value) {
			return whole, atom, nil
		}
	}
	return whole, atom, fmt.Errorf("is %s, and must be %s", describe(value), wanted(atom))
}

// field is the place of a map's field. Unknown fields are deduced.
func (p place) field(m *schema.Map, name string) place {
	if f, ok := m.FindField(name); ok {
		return place{schema: p.schema, ref: f.Type}
	}
	if m.ElementType.NamedType == nil && m.ElementType.Inlined == (schema.Atom{}) {
		return deduced
	}
	return place{schema: p.schema, ref: m.ElementType}
}

// entry is the place of a list's entries.
func (p place) entry(l *schema.List) place { return place{schema: p.schema, ref: l.ElementType} }

// defaultKey is what the schema takes for a key that an entry leaves out, or nil.
func (p place) defaultKey(l *schema.List, key string) any {
	atom, ok := p.schema.Resolve(l.ElementType)
	if !ok || atom.Map == nil {
		return nil
	}
	f, _ := atom.Map.FindField(key)
	return f.Default
}

func fits(scalar schema.Scalar, value any) bool {
	switch value.(type) {
	case string:
		return scalar == schema.String || scalar == schema.Untyped
	case bool:
		return scalar == schema.Boolean || scalar == schema.Untyped
	}
	return scalar == schema.Numeric || scalar == schema.Untyped
}

func wanted(atom schema.Atom) string {
	switch {
	case atom.Map != nil:
		return "a map"
	case atom.List != nil:
		return "a list"
	case atom.Scalar == nil:
		return "left out"
	}
	switch *atom.Scalar {
	case schema.Numeric:
		return "a number"
	case schema.Boolean:
		return "a boolean"
	case schema.String:
		return "a string (quote it)"
	}
	return "a scalar"
}

func describe(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return "a number"
}
