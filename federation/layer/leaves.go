package layer

import (
	"maps"
	"slices"
	"strconv"

	"github.com/syncline-dev/syncline/federation/object"
)

// Leaf is one field of an object and where it comes from.
type Leaf struct {
	// Path is how people name the field: spec.template.spec.containers[web].image.
	Path string
	// Value is shared with the object; it is Hidden in confidential objects.
	Value any
	// Removed says that Layer removed what the layers in Over set.
	Removed bool
	// Layer is the layer that decides the field.
	Layer Ref
	// Over lists what the field has won over, the topmost first.
	Over []Claim
	// Ignored says that the home layer cedes the field: it is not sent.
	Ignored bool
}

// Claim is what a layer would have had a field be.
type Claim struct {
	Layer Ref
	Value any
}

// Hidden stands for the values of confidential objects.
const Hidden = "(hidden)"

// nobody is above all layers: with it as floor, no claim counts.
const nobody = int(^uint(0) >> 1)

// surveyor reads the leaves off strata.
type surveyor struct {
	*strata
	leaves []survey
	// bares are the entries that are leaves themselves.
	bares []*node
}

// survey is a leaf before its layers have names.
type survey struct {
	path object.Path
	// pointer is where the leaf stands in the object; nil where it does not.
	pointer []string
	value   any
	removed bool
	layer   int
	over    []claim
}

// survey visits a node of which the layers below the floor are void, because of a claim of
// the cutter.
func (s *surveyor) survey(n *node, pointer []string, floor, cutter int) {
	r := s.decide(n, floor)
	switch {
	case r.rule == nil:
		s.removed(n, cutter)
		s.below(n, nil, floor, cutter)
	case r.rule.shape == gone:
		s.removed(n, r.rule.layer)
		s.below(n, nil, nobody, r.rule.layer)
	case r.rule.shape == leaf:
		s.expand(survey{path: s.label(n), pointer: pointer, value: r.rule.value, layer: r.rule.layer, over: n.others(r.rule.layer)})
		s.below(n, nil, nobody, r.rule.layer)
	default:
		if r.floor > floor {
			cutter = r.floor
		}
		value, o := s.render(n, floor)
		if o == present && s.bare(n, value) {
			s.bares = append(s.bares, n)
			s.leaves = append(s.leaves, survey{path: n.path(), pointer: pointer, value: value, layer: r.rule.layer})
		}
		if o != present {
			pointer = nil
		}
		s.below(n, pointer, r.floor, cutter)
	}
}

// bare says whether a value of a node that holds others has no leaf but itself. The object
// and its metadata always have some: those that say which object it is.
func (s *surveyor) bare(n *node, value any) bool {
	if n.parent == nil || n.path() == "metadata" {
		return false
	}
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		for name := range v {
			if !n.inList || !n.children[name].isKey {
				return false
			}
		}
	}
	return true
}

// below visits what is below a node: fields by name, entries in their order. The pointer is
// nil where the node itself is not part of the object.
func (s *surveyor) below(n *node, pointer []string, floor, cutter int) {
	ids := n.order
	if !n.isList() {
		ids = slices.Sorted(maps.Keys(n.children))
	}
	index := 0
	for _, id := range ids {
		c := n.children[id]
		if c.isKey && n.inList {
			continue
		}
		var at []string
		if pointer != nil {
			if _, o := s.render(c, floor); o == present {
				at = append(slices.Clone(pointer), id)
				if c.inList {
					at[len(at)-1] = strconv.Itoa(index)
					index++
				}
			}
		}
		s.survey(c, at, floor, cutter)
	}
}

// removed records a leaf that was there before the layer removed it.
func (s *surveyor) removed(n *node, layer int) {
	if over := n.others(layer); len(over) > 0 {
		s.expand(survey{path: s.label(n), removed: true, layer: layer, over: over})
	}
}

// others are the leaves that other layers claim, from top to bottom.
func (n *node) others(layer int) []claim {
	var others []claim
	for _, c := range slices.Backward(n.claims) {
		if c.layer != layer && c.shape == leaf {
			others = append(others, c)
		}
	}
	return others
}

// label is the path of a leaf. An entry that is a key and a value, such as a variable of a
// container, is called by its key.
func (s *surveyor) label(n *node) object.Path {
	if n.name == "value" && n.parent.inList && !slices.Contains(s.bares, n.parent) {
		others := 0
		for _, c := range n.parent.children {
			if !c.isKey {
				others++
			}
		}
		if others == 1 {
			return n.parent.path()
		}
	}
	return n.path()
}

// expand records a leaf, or the fields of one that is a map: the layers claim it whole, but
// people read it by field.
func (s *surveyor) expand(l survey) {
	names := fieldNames(l.value)
	for _, c := range l.over {
		names = append(names, fieldNames(c.value)...)
	}
	if _, isMap := l.value.(map[string]any); len(names) == 0 || !isMap && !l.removed {
		s.leaves = append(s.leaves, l)
		return
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		part := survey{path: l.path.Field(name), removed: l.removed, layer: l.layer}
		m, _ := l.value.(map[string]any)
		var ok bool
		if part.value, ok = m[name]; !ok {
			part.removed = true
		} else if l.pointer != nil {
			part.pointer = append(slices.Clone(l.pointer), name)
		}
		for _, c := range l.over {
			if m, ok := c.value.(map[string]any); ok {
				if value, ok := m[name]; ok {
					part.over = append(part.over, claim{layer: c.layer, shape: leaf, value: value})
				}
			}
		}
		s.expand(part)
	}
}

func fieldNames(value any) []string {
	m, _ := value.(map[string]any)
	return slices.Collect(maps.Keys(m))
}
