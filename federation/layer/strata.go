package layer

import (
	"slices"

	"github.com/syncline-dev/syncline/federation/object"
)

// shape is what a claim says about its node.
type shape int

const (
	// gone: nothing is to be here.
	gone shape = iota
	// holds: something is to be here, and the nodes below say what.
	holds
	// leaf: the claim's value is to be here, whole.
	leaf
)

// claim is what one layer says about one node.
type claim struct {
	// layer is the layer's place in the stack.
	layer int
	shape shape
	// value of a leaf.
	value any
	// cuts voids what layers below say about the node and all that is below it. A claim
	// that is gone always cuts.
	cuts bool
	// explicit keeps a list that holds nothing.
	explicit bool
}

// node is one place of an object. A layer that says anything about what is below a node
// has a claim on the node too.
type node struct {
	parent *node
	// name is how a path calls the node: a field's name, or an entry's keys.
	name string
	// inList tells an entry from a field.
	inList bool
	// isKey marks a field by which its entry is known.
	isKey bool
	// claims from bottom to top, at most one of each layer.
	claims []claim
	// children by field name or entry ID.
	children map[string]*node
	// order of children where the node is a list.
	order []string
}

// strata is one object through all layers.
type strata struct {
	root *node
	// enforced says of each layer whether its claims may be overruled.
	enforced []bool
}

func newStrata(enforced []bool) *strata {
	return &strata{root: &node{}, enforced: enforced}
}

// child is the node below n, which is made where it is missing.
func (n *node) child(id, name string, inList bool) *node {
	if c, ok := n.children[id]; ok {
		return c
	}
	c := &node{parent: n, name: name, inList: inList}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	n.children[id] = c
	n.order = append(n.order, id)
	return c
}

// path is the node's path in its object.
func (n *node) path() object.Path {
	switch {
	case n.parent == nil:
		return ""
	case n.inList:
		return n.parent.path().Entry(n.name)
	}
	return n.parent.path().Field(n.name)
}

// own is the layer's claim on the node, which is made where it is missing. Layers claim
// from bottom to top, so it is the last.
func (n *node) own(layer int) *claim {
	if last := len(n.claims) - 1; last >= 0 && n.claims[last].layer == layer {
		return &n.claims[last]
	}
	n.claims = append(n.claims, claim{layer: layer, shape: holds})
	return &n.claims[len(n.claims)-1]
}

// forget takes back what the layer has said about what is below n.
func (n *node) forget(layer int) {
	for _, c := range n.children {
		if last := len(c.claims) - 1; last >= 0 && c.claims[last].layer == layer {
			c.claims = c.claims[:last]
			c.forget(layer)
		}
	}
}

// hold claims that something is here.
func (n *node) hold(layer int) *claim {
	c := n.own(layer)
	if c.shape == leaf {
		// The layer's own earlier word was the whole value: lower layers stay void.
		c.cuts = true
	}
	c.shape, c.value = holds, nil
	return c
}

// set claims a whole value.
func (n *node) set(layer int, value any) {
	n.forget(layer)
	c := n.own(layer)
	c.shape, c.value, c.explicit = leaf, value, false
}

// remove claims that nothing is here.
func (n *node) remove(layer int) {
	n.forget(layer)
	c := n.own(layer)
	*c = claim{layer: layer, shape: gone, cuts: true}
}

// arrange puts the named children first, in their order.
func (n *node) arrange(ids []string) {
	rest := slices.DeleteFunc(slices.Clone(n.order), func(id string) bool { return slices.Contains(ids, id) })
	n.order = append(slices.Clone(ids), rest...)
}

// ruling is the outcome of a node's claims.
type ruling struct {
	// rule is the claim that decides, or nil where no claim counts.
	rule *claim
	// floor is the lowest layer whose claims count below the node.
	floor int
	// explicit says that a list stays although nothing is left in it.
	explicit bool
}

// decide is the one place that knows who wins: from the floor upwards each claim overrules
// the one before, and nothing overrules an enforced one.
func (s *strata) decide(n *node, floor int) ruling {
	r := ruling{floor: floor}
	for i := range n.claims {
		c := &n.claims[i]
		if c.layer < floor {
			continue
		}
		r.rule = c
		if c.cuts || c.shape == leaf {
			r.floor, r.explicit = c.layer, false
		}
		r.explicit = r.explicit || c.explicit
		if s.enforced[c.layer] {
			break
		}
	}
	return r
}

// outcome is what is left of a node.
type outcome int

const (
	// absent: nobody wants anything here.
	absent outcome = iota
	// removed: the ruling claim wants nothing here.
	removed
	// present: there is a value.
	present
)

// value is the object's fields as the layers have them.
func (s *strata) value() map[string]any {
	value, _ := s.render(s.root, 0)
	fields, _ := value.(map[string]any)
	if fields == nil {
		fields = map[string]any{}
	}
	return fields
}

// render is the value of a node of which the layers below the floor are void. Maps and
// lists that hold others are new; leaves are shared with the layers.
func (s *strata) render(n *node, floor int) (any, outcome) {
	r := s.decide(n, floor)
	switch {
	case r.rule == nil:
		return nil, absent
	case r.rule.shape == gone:
		return nil, removed
	case r.rule.shape == leaf:
		return r.rule.value, present
	case n.isList():
		return s.renderList(n, r)
	}
	return s.renderMap(n, r)
}

// isList says whether the children are a list's. A node with children has one form only:
// a value of another form is a leaf.
func (n *node) isList() bool {
	for _, c := range n.children {
		return c.inList
	}
	return n.listed()
}

// listed says of a node without children whether a layer claimed an empty list.
func (n *node) listed() bool {
	return slices.ContainsFunc(n.claims, func(c claim) bool { return c.explicit })
}

func (s *strata) renderList(n *node, r ruling) (any, outcome) {
	list := make([]any, 0, len(n.order))
	for _, id := range n.order {
		if value, o := s.render(n.children[id], r.floor); o == present {
			list = append(list, value)
		}
	}
	if len(list) == 0 && !r.explicit {
		return nil, absent
	}
	return list, present
}

// renderMap renders a map, or an entry of a keyed list. An entry is gone where the layer
// that has the last word on it removed something and nothing but the keys is left.
func (s *strata) renderMap(n *node, r ruling) (any, outcome) {
	m := make(map[string]any, len(n.children))
	left, taken := false, false
	for id, c := range n.children {
		value, o := s.render(c, r.floor)
		if o == present {
			m[id] = value
		}
		left = left || o == present && !c.isKey
		taken = taken || o == removed && !c.isKey && s.decide(c, r.floor).rule.layer == r.rule.layer
	}
	if n.inList && taken && !left {
		return nil, removed
	}
	return m, present
}
