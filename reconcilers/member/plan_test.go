package member

import (
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
	refused    map[object.ID]refusal
	incomplete []layer.Ref
}

func (w world) Seen(id object.ID) (member.Observation, bool) {
	o, ok := w.there[id]
	return o, ok
}

func (w world) Synced(kind schema.GroupKind) bool { return !slices.Contains(w.unsynced, kind.Kind) }

func (w world) plan() plan {
	listed := inventory{}
	for id, entry := range w.listed {
		listed[id] = held{entry: entry, home: home}
	}
	p := planner{inventory: listed, live: w, pages: &pages{refused: w.refused}, now: noon}
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
			world{refused: map[object.ID]refusal{a: {applied: "d1", retryAt: noon.Add(time.Second)}}},
			"Hold ConfigMap shop/a: refused by the member",
		},
		{
			"refused, and time to try again",
			world{refused: map[object.ID]refusal{a: {applied: "d1", retryAt: noon.Add(-time.Second)}}},
			"Apply ConfigMap shop/a: new",
		},
		{
			"other content was refused",
			world{refused: map[object.ID]refusal{a: {applied: "d0", retryAt: noon.Add(time.Hour)}}},
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

func TestRemovals(t *testing.T) {
	ns := object.ID{Kind: "Namespace", Name: "shop"}
	a, b := configMap("a"), configMap("b")
	w := world{
		listed: map[object.ID]v1alpha1.InventoryEntry{ns: listed(ns, "d1"), a: listed(a, "d1"), b: listed(b, "d1")},
		there: map[object.ID]member.Observation{
			ns: there(), a: there(),
			b: there(func(o *member.Observation) { o.Deleting = true }),
		},
	}
	assert := func(when string, lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, w.plan().text()); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	assert("foundations go last",
		"remove(Wait) ConfigMap shop/b: being deleted on the member",
		"remove(Apply) ConfigMap shop/a: no layer holds it",
		"remove(Wait) Namespace shop: what stands on it goes first")

	delete(w.listed, a)
	delete(w.listed, b)
	assert("and when the rest is gone", "remove(Apply) Namespace shop: no layer holds it")

	w.refused = map[object.ID]refusal{ns: {applied: removing, retryAt: noon.Add(time.Second)}}
	assert("not before its time after a refusal", "remove(Hold) Namespace shop: refused by the member")
	w.refused = nil

	w.incomplete = []layer.Ref{home}
	assert("not while it may be meant by what cannot be read",
		"remove(Hold) Namespace shop: layer fleet/web holds an object that cannot be identified, and this might be it")
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
