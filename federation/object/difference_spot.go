package object

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// spot is a place in what we send and in a live object.
type spot struct {
	path Path
	at   fieldpath.Path
	// known are the fields that any manager holds below the place.
	known *fieldpath.Set
	// undivided says that managers hold the place as a whole.
	undivided bool
	// keys are the fields by which the place is known, if it is an entry of a list.
	keys []string
}

// field is a field of the map at the spot. An entry that is a key and a value, such as a
// variable of a container, is called by its key.
func (s spot) field(name string, want map[string]any) spot {
	path := s.path.Field(name)
	if name == "value" && len(s.keys) > 0 && len(want) == len(s.keys)+1 {
		path = s.path
	}
	return s.below(path, fieldpath.PathElement{FieldName: &name})
}

// entry is the entry of the list at the spot that has the keys; item is the live entry, or
// what we send where there is none.
func (s spot) entry(keys []string, item map[string]any) spot {
	var fields value.FieldList
	var label []string
	for _, key := range keys {
		if v, ok := item[key]; ok {
			fields = append(fields, value.Field{Name: key, Value: value.NewValueInterface(v)})
			label = append(label, fmt.Sprint(v))
		}
	}
	fields.Sort()
	e := s.below(s.path.Entry(strings.Join(label, "/")), fieldpath.PathElement{Key: &fields})
	e.keys = keys
	return e
}

// member is a member of the set at the spot.
func (s spot) member(item any) spot {
	v := value.NewValueInterface(item)
	return s.below(s.path.Entry(fmt.Sprint(item)), fieldpath.PathElement{Value: &v})
}

// place is an entry of the list at the spot that is known by its place.
func (s spot) place(i int) spot {
	return s.below(s.path.Index(i), fieldpath.PathElement{Index: &i})
}

func (s spot) below(path Path, element fieldpath.PathElement) spot {
	known, divided := s.known.Children.Get(element)
	if !divided {
		known = fieldpath.NewSet()
	}
	return spot{
		path: path, at: append(slices.Clone(s.at), element), known: known, undivided: !divided && s.known.Members.Has(element),
	}
}

// entryKeys are the keys of the list at the spot, in the order of their names, and sets
// says whether it is a set of scalars. Without either, the managed fields do not say.
func (s spot) entryKeys() (keys []string, sets bool) {
	elements := func(e fieldpath.PathElement) {
		switch {
		case e.Key != nil && len(keys) == 0:
			for _, f := range *e.Key {
				keys = append(keys, f.Name)
			}
		case e.Value != nil:
			sets = true
		}
	}
	s.known.Members.Iterate(elements)
	for e := range s.known.Children.All() {
		elements(e)
	}
	return keys, sets
}
