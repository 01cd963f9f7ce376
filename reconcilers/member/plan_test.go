package member

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var home = layer.Ref{Kind: v1alpha1.KindLayer, Namespace: "fleet", Name: "web"}

// world is what a plan sees: what is wanted, listed, there, and refused.
type world struct {
	wanted     []wanted
	listed     map[object.ID]v1alpha1.InventoryEntry
	there      map[object.ID]member.Observation
	unsynced   []string // kinds
	unwatched  []string
	refused    map[object.ID]refusal
	drifts     map[object.ID]drift
	incomplete []layer.Ref
	// kept is how the one layer wants its objects kept.
	kept keeping
	// hub are the namespaces of the hub, on a member that is the hub.
	hub map[string]bool
}

func (w world) Seen(id object.ID) (member.Observation, bool) {
	o, ok := w.there[id]
	return o, ok
}

func (w world) Synced(kind schema.GroupKind) bool { return !slices.Contains(w.unsynced, kind.Kind) }

func (w world) WatchProblem(kind schema.GroupKind) error {
	if slices.Contains(w.unwatched, kind.Kind) {
		return errors.New("cannot be watched")
	}
	return nil
}

func (w world) plan() plan {
	listed := inventory{}
	for id, entry := range w.listed {
		listed[id] = held{entry: entry, home: home}
	}
	p := planner{
		inventory: listed, live: w, now: noon, pages: &pages{refused: w.refused, drifts: w.drifts},
		keepings: keepings{home: w.kept}, hubNamespaces: w.hub,
	}
	return p.plan(&desired{objects: w.wanted, incomplete: w.incomplete})
}

// text is a plan as a person would write it down.
func (p plan) text() []string {
	var lines []string
	for _, s := range p.steps {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s", s.verb, s.object.ID, s.why)))
	}
	for _, r := range p.removals {
		lines = append(lines, fmt.Sprintf("remove(%s) %s: %s", r.verb, r.id, r.why))
	}
	for _, problem := range p.problems {
		lines = append(lines, problem.Reason)
	}
	return lines
}

func configMap(name string) object.ID {
	return object.ID{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

func want(id object.ID, digest string) wanted {
	return wanted{ID: id, Object: &layer.Object{ID: id, GVK: id.GroupKind().WithVersion("v1"), Home: home, Digest: digest}}
}

func listed(id object.ID, applied string) v1alpha1.InventoryEntry {
	return v1alpha1.InventoryEntry{ID: id.Key(), Version: "v1", UID: "uid-1", Applied: applied, Owned: "owned-1"}
}

func there(change ...func(*member.Observation)) member.Observation {
	o := member.Observation{UID: "uid-1", Owned: "owned-1", Health: object.Health{Status: object.Current}}
	for _, c := range change {
		c(&o)
	}
	return o
}

func TestPlanForOneObject(t *testing.T) {
	a := configMap("a")
	type entries = map[object.ID]v1alpha1.InventoryEntry
	type sight = map[object.ID]member.Observation
	for _, row := range []struct {
		name string
		world
		want string
	}{
		{"at rest", world{listed: entries{a: listed(a, "d1")}, there: sight{a: there()}}, "Keep ConfigMap shop/a:"},
		{"not there yet", world{}, "Apply ConfigMap shop/a: new"},
		{"declared and not made", world{listed: entries{a: {ID: a.Key(), Version: "v1"}}}, "Apply ConfigMap shop/a: new"},
		{"changed by its layers", world{listed: entries{a: listed(a, "d0")}, there: sight{a: there()}}, "Apply ConfigMap shop/a: changed"},
		{"deleted by others", world{listed: entries{a: listed(a, "d1")}}, "Apply ConfigMap shop/a: deleted by others"},
		{
			"an error is not emptiness: the watch has not listed",
			world{listed: entries{a: listed(a, "d1")}, unsynced: []string{"ConfigMap"}},
			"Keep ConfigMap shop/a: not seen yet",
		},
		{
			"made anew by others",
			world{listed: entries{a: listed(a, "d1")}, there: sight{a: there(func(o *member.Observation) { o.UID = "uid-2" })}},
			"Apply ConfigMap shop/a: made anew by others",
		},
		{
			"a field of ours changed",
			world{listed: entries{a: listed(a, "d1")}, there: sight{a: there(func(o *member.Observation) { o.Owned = "owned-2" })}},
			"Apply ConfigMap shop/a: changed by others",
		},
		{
			"being deleted is waited out",
			world{listed: entries{a: listed(a, "d1")}, there: sight{a: there(func(o *member.Observation) { o.Deleting = true })}},
			"Wait ConfigMap shop/a: being deleted on the member",
		},
		{
			"refused, and not yet time to try again",
			world{refused: map[object.ID]refusal{a: {attempt: "d1@0", retryAt: noon.Add(time.Second)}}},
			"Hold ConfigMap shop/a: refused by the member",
		},
		{
			"refused, and time to try again",
			world{refused: map[object.ID]refusal{a: {attempt: "d1@0", retryAt: noon.Add(-time.Second)}}},
			"Apply ConfigMap shop/a: new",
		},
		{
			"refused by the rules of an older generation",
			world{refused: map[object.ID]refusal{a: {attempt: "d1@0", retryAt: noon.Add(time.Hour)}}, kept: keeping{generation: 1}},
			"Apply ConfigMap shop/a: new",
		},
		{
			"drift is only told",
			world{
				listed: entries{a: listed(a, "d1")}, there: sight{a: there(func(o *member.Observation) { o.Owned = "owned-2" })},
				kept: keeping{policy: v1alpha1.SyncPolicy{Drift: v1alpha1.DriftReport}},
			},
			"Inform ConfigMap shop/a: changed by others",
		},
		{
			"a deletion is drift, too",
			world{listed: entries{a: listed(a, "d1")}, kept: keeping{policy: v1alpha1.SyncPolicy{Drift: v1alpha1.DriftReport}}},
			"Inform ConfigMap shop/a: deleted by others",
		},
		{
			"a drift that others have undone is none",
			world{
				listed: entries{a: listed(a, "d1")}, drifts: map[object.ID]drift{a: {version: "7"}},
				there: sight{a: there(func(o *member.Observation) { o.Owned, o.ResourceVersion = "owned-2", "7" })},
				kept:  keeping{policy: v1alpha1.SyncPolicy{Drift: v1alpha1.DriftReport}},
			},
			"Keep ConfigMap shop/a: changed by others",
		},
		{
			"an edit of the layer is no drift",
			world{
				listed: entries{a: listed(a, "d0")}, there: sight{a: there(func(o *member.Observation) { o.Owned = "owned-2" })},
				kept: keeping{policy: v1alpha1.SyncPolicy{Drift: v1alpha1.DriftReport}},
			},
			"Apply ConfigMap shop/a: changed",
		},
		{
			"deleted by us to be made anew",
			world{
				listed: entries{a: {ID: a.Key(), Version: "v1", UID: "uid-1"}}, there: sight{a: there()},
			},
			"Wait ConfigMap shop/a: is being made anew",
		},
		{
			"and gone",
			world{listed: entries{a: {ID: a.Key(), Version: "v1", UID: "uid-1"}}},
			"Apply ConfigMap shop/a: new",
		},
		{
			"overruled, and known from before a restart",
			world{listed: entries{a: listed(a, "d1!")}, there: sight{a: there()}},
			"Apply ConfigMap shop/a: overruled by the member",
		},
		{
			"overruled, and tried a moment ago",
			world{
				listed: entries{a: listed(a, "d1!")}, there: sight{a: there()},
				refused: map[object.ID]refusal{a: {attempt: "d1@0", retryAt: noon.Add(time.Second)}},
			},
			"Hold ConfigMap shop/a: refused by the member",
		},
		{
			"overruled, and then deleted by others",
			world{
				listed:  entries{a: listed(a, "d1!")},
				refused: map[object.ID]refusal{a: {attempt: "d1@0", retryAt: noon.Add(time.Second)}},
			},
			"Apply ConfigMap shop/a: deleted by others",
		},
		{
			"other content was refused",
			world{refused: map[object.ID]refusal{a: {attempt: "d0@0", retryAt: noon.Add(time.Hour)}}},
			"Apply ConfigMap shop/a: new",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.wanted = []wanted{want(a, "d1")}
			if diff := cmp.Diff([]string{row.want}, row.plan().text()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHeldObjectIsNeitherAppliedNorRemoved(t *testing.T) {
	a := configMap("a")
	w := want(a, "d2")
	held := *w.Object
	held.Held = true
	w.Object = &held
	got := world{
		wanted: []wanted{w}, listed: map[object.ID]v1alpha1.InventoryEntry{a: listed(a, "d1")},
		there: map[object.ID]member.Observation{a: there()},
	}.plan().text()
	if diff := cmp.Diff([]string{"Hold ConfigMap shop/a: held by a problem"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFoundationsComeFirst(t *testing.T) {
	ns := object.ID{Kind: "Namespace", Name: "shop"}
	crd := object.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "gateways.example.com"}
	gateway := object.ID{Group: "example.com", Kind: "Gateway", Namespace: "other", Name: "g"}
	definition := want(crd, "d1")
	definition.Value = map[string]any{"spec": map[string]any{
		"group": "example.com", "names": map[string]any{"kind": "Gateway"},
	}}
	w := world{wanted: []wanted{want(ns, "d1"), definition, want(configMap("a"), "d1"), want(gateway, "d1")}}
	assert := func(when string, lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, w.plan().text()); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	assert("at first",
		"Apply Namespace shop: new",
		"Apply CustomResourceDefinition gateways.example.com: new",
		"Wait ConfigMap shop/a: waiting for Namespace shop",
		"Wait Gateway other/g: waiting for CustomResourceDefinition gateways.example.com")

	w.listed = map[object.ID]v1alpha1.InventoryEntry{ns: listed(ns, "d1"), crd: listed(crd, "d1")}
	w.there = map[object.ID]member.Observation{
		ns:  there(),
		crd: there(func(o *member.Observation) { o.Health.Status = object.InProgress }),
	}
	assert("the namespace is there, the kind is not established",
		"Keep Namespace shop:",
		"Keep CustomResourceDefinition gateways.example.com:",
		"Apply ConfigMap shop/a: new",
		"Wait Gateway other/g: waiting for CustomResourceDefinition gateways.example.com")

	w.there[crd] = there()
	w.listed[gateway] = listed(gateway, "d1")
	delete(w.there, crd)
	w.unsynced = []string{"Gateway"}
	assert("the kind was deleted with all its objects",
		"Keep Namespace shop:",
		"Apply CustomResourceDefinition gateways.example.com: deleted by others",
		"Apply ConfigMap shop/a: new",
		"Wait Gateway other/g: waiting for CustomResourceDefinition gateways.example.com")
}

func TestPlanIsTheSameForTheSameWorld(t *testing.T) {
	w := world{listed: map[object.ID]v1alpha1.InventoryEntry{}, there: map[object.ID]member.Observation{}}
	for i := range 50 {
		id := configMap(fmt.Sprintf("c%02d", i))
		if i%2 == 0 {
			w.wanted = append(w.wanted, want(id, "d1"))
		}
		if i%3 == 0 {
			w.listed[id] = listed(id, "d1")
		}
		if i%5 == 0 {
			w.there[id] = there()
		}
	}
	first := w.plan().text()
	for range 10 {
		if diff := cmp.Diff(first, w.plan().text()); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestAStepIsOutdatedByWhatOthersDoAfterIt(t *testing.T) {
	a := configMap("a")
	entries := map[object.ID]v1alpha1.InventoryEntry{a: listed(a, "d1")}
	planned := world{wanted: []wanted{want(a, "d1")}, listed: entries, there: map[object.ID]member.Observation{a: there()}}
	unseen := world{wanted: planned.wanted, listed: entries, unsynced: []string{"ConfigMap"}}
	for _, row := range []struct {
		name string
		now  member.Observation
		want bool
	}{
		{"nothing", there(), false},
		{"its status", there(func(o *member.Observation) { o.ResourceVersion, o.Health = "2", object.Health{} }), false},
		{"a field of ours", there(func(o *member.Observation) { o.Owned = "owned-2" }), true},
		{"made anew", there(func(o *member.Observation) { o.UID = "uid-2" }), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, w := range []world{planned, unseen} {
				if got := w.plan().steps[0].outdatedBy(row.now); got != row.want {
					t.Errorf("%t", got)
				}
			}
		})
	}
}
