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

// step is one event of a story.
type step struct {
	do      func(*store) bool
	changed bool
	known   string
}

func applied(version, owned string) func(*store) bool {
	return func(s *store) bool { return s.record(at("a", version, owned)) }
}

func event(version, owned string) func(*store) bool {
	return func(s *store) bool { changed, _ := s.seen(at("a", version, owned)); return changed }
}

func deleted(version string) func(*store) bool {
	return func(s *store) bool { changed, _ := s.removed(at("a", version, "")); return changed }
}

func list(version string, of ...Observation) func(*store) bool {
	return func(s *store) bool { changed, _ := s.replaced(configMaps, of, version); return changed }
}

func bookmarked(version string) func(*store) bool {
	return func(s *store) bool { s.bookmarked(configMaps, version); return false }
}

// stories are told to an empty store. Every step says whether it changes the meaning of what
// is known, and what is known of object "a" then: "" for nothing, else its digest.
var stories = map[string][]step{
	"our own echo": {
		{applied("5", "x"), true, "x"},
		{event("5", "x"), false, "x"},
	},
	"an event older than our write": {
		{applied("5", "new"), true, "new"},
		{event("4", "old"), false, "new"},
		{event("10", "later"), true, "later"},
	},
	"a change that means nothing": {
		{event("5", "x"), true, "x"},
		{event("6", "x"), false, "x"},
	},
	"a deletion older than our write": {
		{event("5", "x"), true, "x"},
		{applied("9", "y"), true, "y"},
		{deleted("8"), false, "y"},
		{deleted("12"), true, ""},
	},
	"an answer that comes after the deletion": {
		{event("5", "x"), true, "x"},
		{deleted("8"), true, ""},
		{applied("7", "y"), false, ""},
		{applied("9", "y"), true, "y"},
	},
	"a list without the object": {
		{event("5", "x"), true, "x"},
		{list("8"), true, ""},
		{event("7", "x"), false, ""},
	},
	"a list older than our write": {
		{applied("9", "x"), true, "x"},
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
	"a server that went back and counts on from a higher revision": {
		{list("100", at("a", "90", "x")), true, "x"},
		{applied("95", "ours"), true, "ours"},
		{list("1000", at("a", "40", "old")), true, "old"},
		{event("1001", "next"), true, "next"},
	},
	"a list that is as old as our write": {
		{applied("95", "x"), true, "x"},
		{list("94", at("a", "40", "old")), true, "x"},
	},
	"events out of order": {
		{list("100", at("a", "90", "x")), true, "x"},
		{event("99", "old"), false, "x"},
		{deleted("98"), false, "x"},
		{event("101", "y"), true, "y"},
	},
	"deletions are forgotten after two bookmarks": {
		{event("5", "x"), true, "x"},
		{deleted("8"), true, ""},
		{bookmarked("20"), false, ""},
		{bookmarked("30"), false, ""},
		{applied("7", "y"), true, "y"},
	},
	"versions that are no numbers": {
		{event("abc", "x"), true, "x"},
		{event("abb", "y"), true, "y"},
		{event("abb", "z"), false, "y"},
	},
}

func TestStoreNeverGoesBack(t *testing.T) {
	for name, steps := range stories {
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

func deletedByUs(s *store) bool { s.deleted(idOf("a"), "uid-a"); return false }

func madeAnew(version string) func(*store) bool {
	return func(s *store) bool {
		o := at("a", version, "x")
		o.UID = "uid-another"
		return s.record(o)
	}
}

// A watch may be late, and tell of an object as it was before we deleted it.
func TestWhatWeHaveDeletedIsNotSeenAsItWas(t *testing.T) {
	for name, steps := range map[string][]struct {
		do func(*store) bool
		// known is how the object is seen afterwards: "there", "going" or "gone".
		known string
	}{
		"a late event": {
			{event("5", "x"), "there"},
			{deletedByUs, "going"},
			{event("6", "x"), "going"},
			{deleted("8"), "gone"},
			{madeAnew("9"), "there"},
			{event("10", "x"), "there"},
		},
		"a late list": {
			{deletedByUs, "gone"}, {list("5", at("a", "4", "x")), "going"}, {list("9"), "gone"},
		},
		"another object": {
			{madeAnew("9"), "there"}, {deletedByUs, "there"}, {event("6", "x"), "there"},
		},
		"two bookmarks later": {
			{event("5", "x"), "there"},
			{deletedByUs, "going"},
			{bookmarked("20"), "going"},
			{bookmarked("30"), "going"},
			{event("40", "x"), "there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			for i, step := range steps {
				step.do(s)
				known := "gone"
				if o, found := s.get(idOf("a")); found && o.Deleting {
					known = "going"
				} else if found {
					known = "there"
				}
				if known != step.known {
					t.Errorf("step %d: it is %s, want %s", i, known, step.known)
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
