package layer

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

// staker stakes the claims of one layer.
type staker struct {
	layer int
	// fail is told of values that the schema does not allow.
	fail func(path object.Path, reason, detail string)
}

// directive is a field of a map that says how the map meets what is below it.
const directive = "$patch"

// stake claims a value, part by part in the forms that the schema gives it. A null removes.
func (s *staker) stake(n *node, at place, value any) {
	if value == nil {
		n.remove(s.layer)
		return
	}
	form, atom, err := at.resolve(value)
	if err != nil {
		s.fail(n.path(), object.ReasonTypeMismatch, err.Error())
		return
	}
	switch form {
	case fields:
		s.fields(n, at, atom.Map, value.(map[string]any))
	case entries:
		s.entries(n, at, atom.List, value.([]any))
	case members:
		s.members(n, at, atom.List, value.([]any))
	case whole:
		n.set(s.layer, withoutNulls(value))
	}
}

func (s *staker) fields(n *node, at place, m *schema.Map, value map[string]any) {
	switch word := value[directive]; word {
	case nil, "merge":
	case "replace":
		n.remove(s.layer)
	case "delete":
		n.remove(s.layer)
		return
	default:
		s.fail(n.path().Field(directive), object.ReasonInvalidManifest, "must be merge, replace or delete")
		return
	}
	n.hold(s.layer)
	for name, item := range value {
		if name != directive {
			s.stake(n.child(name, name, false), at.field(m, name), item)
		}
	}
}

func (s *staker) entries(n *node, at place, l *schema.List, value []any) {
	replaces := slices.ContainsFunc(value, replacesList)
	if replaces {
		n.remove(s.layer)
	}
	n.hold(s.layer).explicit = len(value) == 0 || replaces
	var ids []string
	for i, item := range value {
		if replacesList(item) {
			continue
		}
		k, err := at.key(l, item)
		if err != nil {
			s.fail(n.path().Index(i), object.ReasonTypeMismatch, err.Error())
			continue
		}
		if slices.Contains(ids, k.id) {
			s.fail(n.path().Entry(k.name), object.ReasonDuplicateKey, duplicateDetail(l))
			continue
		}
		ids = append(ids, k.id)
		s.entry(n.child(k.id, k.name, true), at.entry(l), l, item)
	}
	if replaces {
		n.arrange(ids)
	}
}

// entry claims an entry of a keyed list.
func (s *staker) entry(n *node, at place, l *schema.List, value any) {
	if m, ok := value.(map[string]any); ok && m[directive] == "delete" {
		n.remove(s.layer)
		return
	}
	s.stake(n, at, value)
	n.markKeys(l.Keys)
}

// markKeys marks the fields by which the entry is known.
func (n *node) markKeys(keys []string) {
	for _, key := range keys {
		if c, ok := n.children[key]; ok {
			c.isKey = true
		}
	}
}

func (s *staker) members(n *node, at place, l *schema.List, value []any) {
	n.hold(s.layer).explicit = len(value) == 0
	for i, item := range value {
		k, err := memberKey(item)
		if err != nil {
			s.fail(n.path().Index(i), object.ReasonTypeMismatch, err.Error())
			continue
		}
		s.stake(n.child(k.id, k.name, true), at.entry(l), item)
	}
}

// replacesList says whether the item is the word that replaces the list it stands in.
func replacesList(item any) bool {
	m, ok := item.(map[string]any)
	return ok && len(m) == 1 && m[directive] == "replace"
}

func duplicateDetail(l *schema.List) string {
	return fmt.Sprintf("two entries have the same %s: keep one", strings.Join(l.Keys, " and "))
}

// key is by what an entry of a keyed list is known.
type key struct {
	// id is unambiguous; name is for people.
	id, name string
}

// key reads the keys of an entry, with the schema's defaults for those left out.
func (p place) key(l *schema.List, item any) (key, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return key{}, fmt.Errorf("is %s, and must be a map", describe(item))
	}
	ids, names := make([]string, 0, len(l.Keys)), make([]string, 0, len(l.Keys))
	for _, name := range l.Keys {
		value := m[name]
		if value == nil {
			value = p.defaultKey(l, name)
		}
		if value == nil {
			ids = append(ids, "")
			continue
		}
		value = integer(value)
		ids = append(ids, fmt.Sprintf("%T:%v", value, value))
		names = append(names, fmt.Sprint(value))
	}
	if len(names) == 0 {
		return key{}, fmt.Errorf("has no %s, by which entries of this list are known", strings.Join(l.Keys, " or "))
	}
	return key{id: strings.Join(ids, "\x00"), name: strings.Join(names, "/")}, nil
}

// integer makes the schema's own numbers comparable with those of JSON.
func integer(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case float64:
		if float64(int64(v)) == v {
			return int64(v)
		}
	}
	return value
}

// memberKey is by what a member of a set is known: its value.
func memberKey(item any) (key, error) {
	switch item.(type) {
	case nil, map[string]any, []any:
		return key{}, fmt.Errorf("is %s, and must be a scalar", describe(item))
	}
	value := integer(item)
	return key{id: fmt.Sprintf("%T:%v", value, value), name: fmt.Sprint(value)}, nil
}

// identify is by what an item of a list is known, be it keyed or a set.
func (p place) identify(l *schema.List, item any) (key, error) {
	if len(l.Keys) == 0 {
		return memberKey(item)
	}
	return p.key(l, item)
}

// withoutNulls is the value without the fields that are null. It is the value itself where
// there are none.
func withoutNulls(value any) any {
	if !hasNull(value) {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if item != nil {
				out[name] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return value
}

// hasNull says whether a field somewhere in the value is null.
func hasNull(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			if item == nil || hasNull(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}
