package object

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Difference is a field of what we send that a live object does not hold as we sent it.
type Difference struct {
	// Path names the field as people do.
	Path Path
	// Want is what we send and Have what the object has.
	Want, Have any
	// Missing says that the object has nothing there.
	Missing bool
	// Manager is who holds the field now, where that is not us; empty where nobody does, or
	// where what the server has made of our own value differs.
	Manager string
}

// String tells the difference without the values, which may be secret.
func (d Difference) String() string {
	text := d.Path.String() + " differs"
	if d.Missing {
		text = d.Path.String() + " is missing"
	}
	if d.Manager != "" {
		text += ", held by " + d.Manager
	}
	return text
}

// Differences are the fields in which a live object differs from what we send as the field
// manager ours. What the object has beyond them is no difference, and neither is what the
// server made of a value while we hold it: another spelling of a quantity, or what it
// leaves out or fills in for a zero.
//
// Fields stand by name and entries in the order of wanted. An entry of a list with keys is
// compared with the entry that has its keys, wherever it is. Which lists have keys, and
// which values are undivided, is read from the managed fields of all managers; where they do
// not say, entries with a name are taken to be known by it, and others by their place.
func Differences(wanted map[string]any, live *unstructured.Unstructured, ours string) []Difference {
	c, known := comparison{}, fieldpath.NewSet()
	// Without managed fields less is known, and the values are there all the same.
	all, _ := managers(live)
	for _, m := range all {
		known = known.Union(m.fields)
		switch {
		case m.Name != ours:
			c.others = append(c.others, m)
		case c.ours == nil:
			c.ours = m.fields
		default:
			c.ours = c.ours.Union(m.fields)
		}
	}
	c.fields(spot{known: known}, sent(wanted), live.Object)
	return c.found
}

// sent is what we send without what says which object it is, and in the form in which
// servers keep it.
func sent(wanted map[string]any) map[string]any {
	fields := maps.Clone(wanted)
	if metadata, ok := wanted["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "name")
		delete(metadata, "namespace")
		fields["metadata"] = metadata
	}
	EncodeStringData(fields)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	return fields
}

// EncodeStringData moves the stringData of an object that is a Secret to its data, as servers
// do. Whoever applies stringData is not seen to hold any data, and not told when others change
// it. What is below the object's first level is copied, not changed.
func EncodeStringData(secret map[string]any) {
	texts, _ := secret["stringData"].(map[string]any)
	if secret["apiVersion"] != "v1" || secret["kind"] != "Secret" || len(texts) == 0 {
		return
	}
	shown := map[string]any{}
	data, _ := secret["data"].(map[string]any)
	maps.Copy(shown, data)
	for name, text := range texts {
		shown[name] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(text)))
	}
	secret["data"] = shown
	delete(secret, "stringData")
}

// comparison is the work on one object.
type comparison struct {
	// ours are the fields that we hold; nil if it is not known that we ever held any.
	ours *fieldpath.Set
	// others are the other managers, who wrote last first.
	others []Manager
	found  []Difference
}

// value compares a value of any kind. A null says nothing.
func (c *comparison) value(s spot, want, have any) {
	switch want := want.(type) {
	case nil:
	case map[string]any:
		if m, isMap := have.(map[string]any); isMap || have == nil && len(want) > 0 {
			c.fields(s, want, m)
			return
		}
		c.leaf(s, want, have)
	case []any:
		c.list(s, want, have)
	default:
		c.leaf(s, want, have)
	}
}

// fields compares what we send of a map, field by field.
func (c *comparison) fields(s spot, want, have map[string]any) {
	before := len(c.found)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.value(s.field(name, want), want[name], have[name])
	}
	// Somebody who took a map as a whole may have changed it by adding to it.
	if len(c.found) == before && s.undivided && c.lost(s) && len(have) > len(want) {
		c.differ(s, want, have, false)
	}
}

// leaf compares what is not compared in parts.
func (c *comparison) leaf(s spot, want, have any) {
	switch {
	case have == nil:
		if !isZero(want) || c.lost(s) {
			c.differ(s, want, nil, true)
		}
	case !same(want, have, c.likeness(s)):
		c.differ(s, want, have, false)
	}
}

// held says whether we hold a field.
func (c *comparison) held(s spot) bool { return c.ours != nil && covers(c.ours, s.at) }

// lost says whether we are known not to hold it.
func (c *comparison) lost(s spot) bool { return c.ours != nil && !covers(c.ours, s.at) }

func (c *comparison) differ(s spot, want, have any, missing bool) {
	d := Difference{Path: s.path, Want: want, Have: have, Missing: missing}
	if !c.held(s) {
		for _, m := range c.others {
			if m.Holds(s.at) {
				d.Manager = m.Name
				break
			}
		}
	}
	c.found = append(c.found, d)
}
