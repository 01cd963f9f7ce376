package member

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/federation/object"
)

var configMaps = schema.GroupKind{Kind: "ConfigMap"}

func idOf(name string) object.ID { return object.ID{Kind: "ConfigMap", Namespace: "shop", Name: name} }

// at is an observation of an object whose digest is its content.
func at(name, version, owned string) Observation {
	return Observation{ID: idOf(name), UID: "uid-" + types.UID(name), ResourceVersion: version, Owned: owned}
}

// Each test is a story; every step says whether it changes the meaning of what is known,
// and what is known of object "a" then: "" for nothing, else its digest.
func TestStoreNeverGoesBack(t *testing.T) {
	type step struct {
		do      func(*store) bool
		changed bool
		known   string
	}
	apply := func(version, owned string) func(*store) bool {
		return func(s *store) bool { return s.record(at("a", version, owned)) }
	}
	event := func(version, owned string) func(*store) bool {
		return func(s *store) bool { return s.seen(at("a", version, owned)) }
	}
	deleted := func(version string) func(*store) bool {
		return func(s *store) bool { return s.removed(idOf("a"), version) }
	}
	list := func(version string, of ...Observation) func(*store) bool {
		return func(s *store) bool { return s.replaced(configMaps, of, version) }
	}
	bookmark := func(version string) func(*store) bool {
		return func(s *store) bool { s.bookmarked(configMaps, version); return false }
	}
	for name, steps := range map[string][]step{
		"our own echo": {
			{apply("5", "x"), true, "x"},
			{event("5", "x"), false, "x"},
		},
		"an event older than our write": {
			{apply("5", "new"), true, "new"},
			{event("4", "old"), false, "new"},
			{event("10", "later"), true, "later"},
		},
		"a change that means nothing": {
			{event("5", "x"), true, "x"},
			{event("6", "x"), false, "x"},
		},
		"a deletion older than our write": {
			{event("5", "x"), true, "x"},
			{apply("9", "y"), true, "y"},
			{deleted("8"), false, "y"},
			{deleted("12"), true, ""},
		},
		"an answer that comes after the deletion": {
			{event("5", "x"), true, "x"},
			{deleted("8"), true, ""},
			{apply("7", "y"), false, ""},
			{apply("9", "y"), true, "y"},
		},
		"a list without the object": {
			{event("5", "x"), true, "x"},
			{list("8"), true, ""},
			{event("7", "x"), false, ""},
		},
		"a list older than our write": {
			{apply("9", "x"), true, "x"},
			{list("8", at("b", "3", "")), true, "x"},
		},
		"a list with the object": {
			{event("5", "x"), true, "x"},
			{list("8", at("a", "5", "x")), true, "x"}, // the first list is in
			{list("9", at("a", "5", "x")), false, "x"},
		},
		"a server that went back": {
			{list("100", at("a", "90", "x")), true, "x"},
			{list("50", at("a", "40", "old")), true, "old"},
			{event("51", "next"), true, "next"},
		},
		"deletions are forgotten after two bookmarks": {
			{event("5", "x"), true, "x"},
			{deleted("8"), true, ""},
			{bookmark("20"), false, ""},
			{bookmark("30"), false, ""},
			{apply("7", "y"), true, "y"},
		},
		"versions that are no numbers": {
			{event("abc", "x"), true, "x"},
			{event("abb", "y"), true, "y"},
			{event("abb", "z"), false, "y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			for i, step := range steps {
				if changed := step.do(s); changed != step.changed {
					t.Errorf("step %d: changed is %v", i, changed)
				}
				if o, _ := s.get(idOf("a")); o.Owned != step.known {
					t.Errorf("step %d: known is %q, want %q", i, o.Owned, step.known)
				}
			}
		})
	}
}

func TestStoreForgetsKindsThatAreNotWanted(t *testing.T) {
	s := newStore()
	s.replaced(configMaps, []Observation{at("a", "1", "x")}, "1")
	if !s.synced(configMaps) {
		t.Error("a list does not count as synced")
	}
	s.keepOnly(nil)
	if _, found := s.get(idOf("a")); found || s.synced(configMaps) {
		t.Error("the kind is still known")
	}
}
