package layer_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// This file is a second implementation of the fold's values, deliberately dumb: it merges
// two values at a time, knows its few lists by heart, keeps no claims, and obeys enforced
// layers by striking from each layer what contradicts them before it merges. It says
// nothing of the order of entries.

// keysOf are the keys of the lists that the random objects use.
var keysOf = map[string][]string{
	"containers": {"name"},
	"env":        {"name"},
	"ports":      {"containerPort", "protocol"},
	"finalizers": {},
}

// wholes are values that do not merge.
var wholes = map[string]bool{"args": true, "selector": true}

// dumbLayer is one layer of the dumb implementation.
type dumbLayer struct {
	enforce bool
	part    map[string]any
}

// dumbFold folds the layers from bottom to top.
func dumbFold(layers []dumbLayer) map[string]any {
	var below any = map[string]any{}
	var enforced []map[string]any
	for _, l := range layers {
		part := any(l.part)
		for _, e := range enforced {
			part, _ = strike("", part, e)
		}
		below = dumbMerge("", below, part)
		// A bare entry that is enforced stays when another layer takes what it put there.
		for _, e := range slices.Backward(enforced) {
			below = dumbMerge("", below, e)
		}
		if l.enforce {
			enforced = append(enforced, part.(map[string]any))
		}
	}
	return below.(map[string]any)
}

// strike is the part without what contradicts an enforced part, and whether anything of it
// is left.
func strike(name string, part, enforced any) (any, bool) {
	if enforced == nil {
		return nil, part == nil
	}
	if part == nil || isDelete(part) {
		return nil, false
	}
	if isDelete(enforced) {
		return nil, false
	}
	switch e := enforced.(type) {
	case map[string]any:
		p, ok := part.(map[string]any)
		if !ok || wholes[name] {
			break
		}
		out := map[string]any{}
		for field, value := range p {
			if said, ok := e[field]; ok {
				kept, ok := strike(field, value, said)
				if !ok {
					continue
				}
				value = kept
			}
			out[field] = value
		}
		return out, true
	case []any:
		keys, keyed := keysOf[name]
		p, ok := part.([]any)
		if !ok || !keyed {
			break
		}
		out := []any{}
		for _, item := range p {
			if i := find(keys, e, item); i >= 0 {
				kept, ok := strike("", item, e[i])
				if !ok || bringsBack(keys, kept, e[i]) {
					continue
				}
				item = kept
			}
			out = append(out, item)
		}
		return out, true
	}
	return part, reflect.DeepEqual(part, enforced)
}

// bringsBack says whether what is left of an entry is nothing but its keys, where the
// enforced entry is there to remove.
func bringsBack(keys []string, kept, enforced any) bool {
	m, ok := kept.(map[string]any)
	return ok && len(m) == len(written(keys, m)) && removes(enforced.(map[string]any))
}

// dumbMerge puts a part over what is below.
func dumbMerge(name string, below, part any) any {
	switch p := part.(type) {
	case map[string]any:
		if wholes[name] {
			return p
		}
		out := map[string]any{}
		if b, ok := below.(map[string]any); ok {
			for field, value := range b {
				out[field] = value
			}
		}
		for field, value := range p {
			if value == nil {
				delete(out, field)
				continue
			}
			merged := dumbMerge(field, out[field], value)
			if list, ok := merged.([]any); ok && len(list) == 0 {
				delete(out, field) // A list that holds nothing any more goes.
				continue
			}
			out[field] = merged
		}
		return out
	case []any:
		keys, keyed := keysOf[name]
		if !keyed {
			return p
		}
		b, _ := below.([]any)
		return dumbMergeList(keys, b, p)
	}
	return part
}

func dumbMergeList(keys []string, below, part []any) any {
	out := slices.Clone(below)
	for _, item := range part {
		i := find(keys, out, item)
		if isDelete(item) {
			if i >= 0 {
				out = slices.Delete(out, i, i+1)
			}
			continue
		}
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = dumbMerge("", out[i], item)
		if m, ok := item.(map[string]any); ok && removes(m) && len(out[i].(map[string]any)) == len(written(keys, out[i])) {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// removes says whether a field of the entry itself is null.
func removes(m map[string]any) bool {
	for _, value := range m {
		if value == nil {
			return true
		}
	}
	return false
}

func isDelete(item any) bool {
	m, ok := item.(map[string]any)
	return ok && m["$patch"] == "delete"
}

// written are the keys that the entry spells out.
func written(keys []string, item any) []string {
	var out []string
	for _, key := range keys {
		if _, ok := item.(map[string]any)[key]; ok {
			out = append(out, key)
		}
	}
	return out
}

func find(keys []string, list []any, item any) int {
	return slices.IndexFunc(list, func(other any) bool { return dumbKey(keys, other) == dumbKey(keys, item) })
}

// dumbKey is an item's key as paths write it.
func dumbKey(keys []string, item any) string {
	if len(keys) == 0 {
		return fmt.Sprint(item)
	}
	var parts []string
	for _, key := range keys {
		value := item.(map[string]any)[key]
		if key == "protocol" && value == nil {
			value = "TCP"
		}
		parts = append(parts, fmt.Sprint(value))
	}
	return strings.Join(parts, "/")
}

// flatten are the leaves of a folded value by path, keys and identity left out.
func flatten(name, path string, value any, leaves map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		flattenFields(path, v, nil, leaves)
		return
	case []any:
		keys, keyed := keysOf[name]
		if !keyed || len(v) == 0 {
			break
		}
		for _, item := range v {
			at := path + "[" + dumbKey(keys, item) + "]"
			if m, ok := item.(map[string]any); ok {
				flattenFields(at, m, keys, leaves)
			} else {
				leaves[at] = item
			}
		}
		return
	}
	leaves[path] = value
}

func flattenFields(path string, m map[string]any, keys []string, leaves map[string]any) {
	left := 0
	for field, value := range m {
		at := strings.TrimPrefix(path+"."+field, ".")
		if slices.Contains(keys, field) || at == "apiVersion" || at == "kind" || at == "metadata.name" || at == "metadata.namespace" {
			continue
		}
		left++
		if field == "value" && keys != nil {
			at = path // The only field of a variable is called by the variable's name.
		}
		flatten(field, at, value, leaves)
	}
	if left == 0 && path != "" && path != "metadata" {
		leaves[path] = m
	}
}

// randomPart is a part of a Deployment with nulls and empty values strewn in.
func randomPart(r *rand.Rand) map[string]any {
	part := map[string]any{}
	if r.IntN(2) == 0 {
		metadata := map[string]any{}
		maybe(r, metadata, "labels", func() any { return randomMap(r) })
		maybe(r, metadata, "annotations", func() any { return randomMap(r) })
		if r.IntN(3) == 0 {
			metadata["finalizers"] = randomSet(r)
		}
		part["metadata"] = metadata
	}
	spec := map[string]any{}
	maybe(r, spec, "replicas", func() any { return int64(r.IntN(3)) })
	maybe(r, spec, "selector", func() any { return map[string]any{"matchLabels": map[string]any{"app": word(r)}} })
	pod := map[string]any{}
	maybe(r, pod, "containers", func() any { return randomEntries(r, randomContainer) })
	maybe(r, pod, "hostname", func() any { return word(r) })
	maybe(r, spec, "template", func() any { return map[string]any{"spec": pod} })
	maybe(r, part, "spec", func() any { return spec })
	return part
}

func randomContainer(r *rand.Rand) map[string]any {
	c := map[string]any{"name": word(r)}
	if r.IntN(8) == 0 {
		c["$patch"] = "delete"
		return c
	}
	maybe(r, c, "image", func() any { return word(r) })
	maybe(r, c, "args", func() any { return []any{word(r), word(r)} })
	maybe(r, c, "resources", func() any { return map[string]any{"limits": randomMap(r)} })
	maybe(r, c, "env", func() any {
		return randomEntries(r, func(r *rand.Rand) map[string]any {
			e := map[string]any{"name": word(r)}
			maybe(r, e, "value", func() any { return word(r) })
			return e
		})
	})
	maybe(r, c, "ports", func() any {
		return randomEntries(r, func(r *rand.Rand) map[string]any {
			p := map[string]any{"containerPort": int64(80 + r.IntN(2))}
			if r.IntN(2) == 0 {
				p["protocol"] = []string{"TCP", "UDP"}[r.IntN(2)]
			}
			maybe(r, p, "name", func() any { return word(r) })
			return p
		})
	})
	return c
}

// maybe sets a field: often to a value, sometimes to null, sometimes not at all.
func maybe(r *rand.Rand, m map[string]any, name string, value func() any) {
	switch r.IntN(7) {
	case 0:
		m[name] = nil
	case 1, 2:
	default:
		m[name] = value()
	}
}

func randomMap(r *rand.Rand) map[string]any {
	m := map[string]any{}
	for range r.IntN(3) {
		maybe(r, m, word(r), func() any { return word(r) })
	}
	return m
}

func randomSet(r *rand.Rand) []any {
	set := []any{}
	for range 1 + r.IntN(2) {
		if w := word(r); !slices.Contains(set, any(w)) {
			set = append(set, w)
		}
	}
	return set
}

// randomEntries is a list without duplicate keys. It is never empty: of a list that is
// written empty, the dumb implementation cannot tell whether it was emptied.
func randomEntries(r *rand.Rand, entry func(*rand.Rand) map[string]any) []any {
	list := []any{}
	seen := map[string]bool{}
	for range 1 + r.IntN(2) {
		e := entry(r)
		keys := []string{"name"}
		if _, ok := e["containerPort"]; ok {
			keys = keysOf["ports"]
		}
		if k := dumbKey(keys, e); !seen[k] {
			seen[k] = true
			list = append(list, e)
		}
	}
	return list
}

func word(r *rand.Rand) string { return []string{"a", "b", "c"}[r.IntN(3)] }
