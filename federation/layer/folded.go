package layer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

// Folded is what a stack means to a member. It is immutable: members with the same stack
// share it.
type Folded struct {
	// Objects in the order of application, object.CompareApply.
	Objects []Object
	// Problems of all layers, in the order of object.CompareProblems.
	Problems []object.Problem
	// Incomplete names layers with an object that could not be identified. What such a
	// layer no longer seems to hold, or to hold a part of, might be that object: nothing of
	// the stack may be pruned while there is one.
	Incomplete []Ref
}

// Find is the object with an ID.
func (f *Folded) Find(id object.ID) (Object, bool) {
	for _, o := range f.Objects {
		if o.ID == id {
			return o, true
		}
	}
	return Object{}, false
}

// Object is one object that the member is to have. It is immutable.
type Object struct {
	ID object.ID
	// GVK is the kind in the version in which the layers wrote it. A held object may have
	// no version.
	GVK schema.GroupVersionKind
	// Home is the lowest layer that holds the object in its manifests: its inventory entry
	// lives in that layer's binding.
	Home Ref
	// Layers are all that say something of the object, by a part or by a patch, from bottom
	// to top: none of them is in effect before the object is.
	Layers []Ref
	// Ceded are the fields that the home cedes, whether or not a layer sets them, each as the
	// tokens of a JSON pointer.
	Ceded [][]string
	// Held says that an error in some layer leaves open what the object is to be. It is to
	// be neither applied nor pruned, and has no value.
	Held bool
	// Value is the whole object. It shares parts with other objects and is not to be
	// changed; Unstructured gives a copy.
	Value map[string]any
	// Digest is equal for equal values of equal homes.
	Digest string
	// Confidential says that values must not be shown: the object is a Secret, or a part of
	// it came from one.
	Confidential bool

	column *column
}

// String is the object and its home.
func (o Object) String() string {
	if o.Held {
		return fmt.Sprintf("%s of %s (held)", o.ID, o.Home)
	}
	return fmt.Sprintf("%s of %s", o.ID, o.Home)
}

// Unstructured is a copy of the value that the caller may change, or nil for a held object.
func (o Object) Unstructured() *unstructured.Unstructured {
	if o.Held {
		return nil
	}
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Value)}
}

// Leaves says of each field of the object which layer set it and which it won over, and of
// each removed field which layer removed it. Fields stand by name and entries in the
// object's order. Every leaf of the value is there once, besides those that say which
// object it is. A held object has none.
func (o Object) Leaves() []Leaf {
	if o.Held {
		return nil
	}
	s := surveyor{strata: o.column.build().strata}
	s.survey(s.root, []string{}, 0, -1)
	leaves := make([]Leaf, 0, len(s.leaves))
	for _, l := range s.leaves {
		leaf := Leaf{
			Path:    l.path.String(),
			Value:   o.shown(l.value, l.path),
			Removed: l.removed,
			Layer:   o.column.beds[l.layer].Ref,
			Ignored: l.pointer != nil && covers(o.Ceded, l.pointer),
		}
		for _, c := range l.over {
			leaf.Over = append(leaf.Over, Claim{Layer: o.column.beds[c.layer].Ref, Value: o.shown(c.value, l.path)})
		}
		leaves = append(leaves, leaf)
	}
	return leaves
}

// shown is a value as people may see it. Of a confidential object they see its labels.
func (o Object) shown(value any, path object.Path) any {
	if !o.Confidential || path.Within("metadata.labels") || value == nil {
		return value
	}
	return Hidden
}
