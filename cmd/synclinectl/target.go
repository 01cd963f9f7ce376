package main

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

// target is an object as people name it. An empty namespace stands for any.
type target struct {
	kind, namespace, name string
}

// parseTarget reads KIND/NAME and KIND/NAMESPACE/NAME.
func parseTarget(text string) (target, error) {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if part == "" {
			parts = nil
		}
	}
	switch len(parts) {
	case 2:
		return target{kind: parts[0], name: parts[1]}, nil
	case 3:
		return target{kind: parts[0], namespace: parts[1], name: parts[2]}, nil
	}
	return target{}, fmt.Errorf("object %q: write KIND/NAME or KIND/NAMESPACE/NAME, such as deployment/shop/web", text)
}

// String is the target as it was written.
func (t target) String() string {
	if t.namespace == "" {
		return t.kind + "/" + t.name
	}
	return t.kind + "/" + t.namespace + "/" + t.name
}

// find finds the one object that is meant. Where there is none, or more than one, the error
// says which objects come near.
func (t target) find(folded *layer.Folded, names kindNames) (layer.Object, error) {
	var found []layer.Object
	var near, all []string
	for _, o := range folded.Objects {
		all = append(all, o.ID.String())
		kind, name := names.means(t.kind, o.ID.GroupKind()), o.ID.Name == t.name
		switch {
		case kind && name && t.within(o.ID):
			found = append(found, o)
		case kind, name:
			near = append(near, o.ID.String())
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var ids []string
		for _, o := range found {
			ids = append(ids, o.ID.String()+" ("+o.GVK.GroupVersion().String()+")")
		}
		return layer.Object{}, fmt.Errorf("%s may be any of %s: add the namespace, or the group as in KIND.GROUP", t, listed(ids))
	case len(near) > 0:
		return layer.Object{}, fmt.Errorf("no layer holds %s; of that kind or name there are %s", t, listed(near))
	case len(all) > 0:
		return layer.Object{}, fmt.Errorf("no layer holds %s, nor anything of that kind or name; there are %s", t, listed(all))
	}
	return layer.Object{}, fmt.Errorf("no layer holds %s, nor anything else", t)
}

// within says whether the object is in the target's namespace. One without a namespace may
// be in default: that is where a member puts it, if its kind has namespaces.
func (t target) within(id object.ID) bool {
	return t.namespace == "" || t.namespace == id.Namespace ||
		id.Namespace == "" && t.namespace == metav1.NamespaceDefault
}
