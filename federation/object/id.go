package object

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ID is where objects of different layers meet: group, kind, namespace and name. The
// version is not part of it.
type ID struct {
	Group, Kind, Namespace, Name string
}

// Of is the ID of an object.
func Of(u *unstructured.Unstructured) ID {
	gvk := u.GroupVersionKind()
	return ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// GroupKind is the kind that the object is of.
func (id ID) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: id.Group, Kind: id.Kind}
}

// Key is the ID in one string that ParseKey reads: group/kind/namespace/name. None of the
// four can contain a slash.
func (id ID) Key() string {
	return id.Group + "/" + id.Kind + "/" + id.Namespace + "/" + id.Name
}

// ParseKey is the inverse of Key.
func ParseKey(key string) (ID, error) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 || parts[1] == "" || parts[3] == "" {
		return ID{}, fmt.Errorf("object key %q is not <group>/<kind>/<namespace>/<name>", key)
	}
	return ID{Group: parts[0], Kind: parts[1], Namespace: parts[2], Name: parts[3]}, nil
}

// String is how people name the object: "Deployment shop/web".
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// Compare orders IDs by group, kind, namespace and name.
func Compare(a, b ID) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
	)
}
