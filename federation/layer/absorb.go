package layer

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

// absorb claims what differs between what a node renders to and what it is to render to: a
// change that was made by other means than a merge. Without enforced claims in the way, the
// node renders to exactly the latter from then on.
func (s *staker) absorb(n *node, at place, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	form, atom, err := at.resolve(after)
	if err != nil {
		s.fail(n.path(), object.ReasonTypeMismatch, err.Error())
		return
	}
	if before != nil && (form != whole && n.hasLeaf() || reflect.TypeOf(before) != reflect.TypeOf(after)) {
		// There is nothing below to compare with: the new value takes the old one's place.
		n.remove(s.layer)
		before = nil
	}
	switch form {
	case fields:
		s.absorbFields(n, at, atom.Map, before, after.(map[string]any))
	case entries, members:
		s.absorbList(n, at, atom.List, before, after.([]any))
	case whole:
		n.set(s.layer, after)
	}
}

func (s *staker) absorbFields(n *node, at place, m *schema.Map, before any, after map[string]any) {
	old, _ := before.(map[string]any)
	n.hold(s.layer)
	for name := range old {
		if _, kept := after[name]; !kept {
			n.child(name, name, false).remove(s.layer)
		}
	}
	for name, item := range after {
		s.absorb(n.child(name, name, false), at.field(m, name), old[name], item)
	}
}

func (s *staker) absorbList(n *node, at place, l *schema.List, before any, after []any) {
	old := map[string]any{}
	items, _ := before.([]any)
	for _, item := range items {
		if k, err := at.identify(l, item); err == nil {
			old[k.id] = item
		}
	}
	n.hold(s.layer).explicit = len(after) == 0
	var ids []string
	for i, item := range after {
		k, err := at.identify(l, item)
		if err != nil {
			s.fail(n.path().Index(i), object.ReasonTypeMismatch, err.Error())
			continue
		}
		if slices.Contains(ids, k.id) {
			s.fail(n.path().Entry(k.name), object.ReasonDuplicateKey, duplicateDetail(l))
			continue
		}
		ids = append(ids, k.id)
		s.absorbEntry(n.child(k.id, k.name, true), at.entry(l), l, old[k.id], item)
	}
	for id := range old {
		if !slices.Contains(ids, id) {
			n.children[id].remove(s.layer)
		}
	}
	n.arrange(ids)
}

// absorbEntry absorbs one entry. An entry with nothing but its keys would look like one
// that removals emptied, so it is claimed whole.
func (s *staker) absorbEntry(n *node, at place, l *schema.List, before, after any) {
	if m, ok := after.(map[string]any); ok && onlyKeys(m, l.Keys) && !reflect.DeepEqual(before, after) {
		n.set(s.layer, after)
		return
	}
	s.absorb(n, at, before, after)
	n.markKeys(l.Keys)
}

// hasLeaf says whether a layer has claimed the node whole.
func (n *node) hasLeaf() bool {
	return slices.ContainsFunc(n.claims, func(c claim) bool { return c.shape == leaf })
}

func onlyKeys(m map[string]any, keys []string) bool {
	for name := range m {
		if !slices.Contains(keys, name) {
			return false
		}
	}
	return true
}
