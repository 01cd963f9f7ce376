package object

import "slices"

// list compares a list as a whole, by keys, as a set or by place.
func (c *comparison) list(s spot, want []any, have any) {
	items, isList := have.([]any)
	switch keys, isSet := c.listForm(s, want); {
	case len(want) == 0:
		// Among the entries of others, none of ours are to be; a list that is one value is to
		// be empty.
		if s.undivided && len(items) > 0 && c.lost(s) {
			c.differ(s, want, have, false)
		}
	case !isList:
		c.differ(s, want, have, have == nil)
	case s.undivided:
		if !same(want, items, c.likeness(s)) {
			c.differ(s, want, have, false)
		}
	case len(keys) > 0:
		c.entries(s, keys, want, items)
	case isSet:
		c.members(s, want, items)
	default:
		for i, item := range want {
			if i < len(items) {
				c.value(s.place(i), item, items[i])
			} else {
				c.differ(s.place(i), item, nil, true)
			}
		}
	}
}

// listForm is by what entries of a list are known.
func (c *comparison) listForm(s spot, want []any) (keys []string, isSet bool) {
	if keys, isSet = s.entryKeys(); len(keys) > 0 || isSet {
		return keys, isSet
	}
	names := map[any]bool{}
	for _, item := range want {
		m, _ := item.(map[string]any)
		name, ok := m["name"].(string)
		if !ok || names[name] {
			return nil, false
		}
		names[name] = true
	}
	return []string{"name"}, false
}

// entries compares the entries of a list that has keys.
func (c *comparison) entries(s spot, keys []string, want, have []any) {
	for i, at := range c.pair(s, keys, want, have) {
		item, isMap := want[i].(map[string]any)
		switch {
		case !isMap:
			c.differ(s.place(i), want[i], nil, true)
		case at < 0:
			c.differ(s.entry(keys, item), item, nil, true)
		default:
			there, _ := have[at].(map[string]any)
			c.fields(s.entry(keys, there), item, there)
		}
	}
}

// pair finds for each wanted entry the place of the live one that has its keys, or -1. An
// entry that leaves out a key, for which the server has a default, takes what no other
// entry means, rather one that we hold.
func (c *comparison) pair(s spot, keys []string, want, have []any) []int {
	pairs := make([]int, len(want))
	taken := map[int]bool{}
	choose := func(i int, admit func(item, there map[string]any) bool) {
		item, _ := want[i].(map[string]any)
		for at, candidate := range have {
			there, ok := candidate.(map[string]any)
			if pairs[i] < 0 && ok && item != nil && !taken[at] && sharesKeys(keys, item, there) && admit(item, there) {
				pairs[i], taken[at] = at, true
			}
		}
	}
	for i := range pairs {
		pairs[i] = -1
		choose(i, func(item, _ map[string]any) bool { return hasAll(item, keys) })
	}
	for i := range pairs {
		choose(i, func(_, there map[string]any) bool { return c.held(s.entry(keys, there)) })
		choose(i, func(_, _ map[string]any) bool { return true })
	}
	return pairs
}

func hasAll(item map[string]any, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return item[key] == nil })
}

// sharesKeys says whether an entry has the keys that another gives, of which there must be one.
func sharesKeys(keys []string, item, there map[string]any) bool {
	given := 0
	for _, key := range keys {
		if item[key] == nil {
			continue
		}
		if !same(item[key], there[key], exactly) {
			return false
		}
		given++
	}
	return given > 0
}

// members compares a set of scalars.
func (c *comparison) members(s spot, want, have []any) {
	for _, item := range want {
		if !slices.ContainsFunc(have, func(there any) bool { return same(item, there, exactly) }) {
			c.differ(s.member(item), item, nil, true)
		}
	}
}
