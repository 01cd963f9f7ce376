package member

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

func TestRemovals(t *testing.T) {
	ns := object.ID{Kind: "Namespace", Name: "shop"}
	a, b := configMap("a"), configMap("b")
	w := world{
		listed: map[object.ID]v1alpha1.InventoryEntry{ns: listed(ns, "d1"), a: listed(a, "d1"), b: listed(b, "d1")},
		there: map[object.ID]member.Observation{
			ns: there(), a: there(),
			b: there(func(o *member.Observation) { o.Deleting = true }),
		},
		kept: keeping{policy: v1alpha1.SyncPolicy{PruneCascading: true}},
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

	w.unwatched = []string{"ConfigMap"}
	assert("what no watch would show to be gone is looked after",
		"remove(Apply) ConfigMap shop/b: no layer holds it",
		"remove(Apply) ConfigMap shop/a: no layer holds it",
		"remove(Wait) Namespace shop: what stands on it goes first")
	w.unwatched = nil

	delete(w.listed, a)
	delete(w.listed, b)
	assert("and when the rest is gone", "remove(Apply) Namespace shop: no layer holds it")

	w.refused = map[object.ID]refusal{ns: {attempt: removing, retryAt: noon.Add(time.Second)}}
	assert("not before its time after a refusal", "remove(Hold) Namespace shop: refused by the member")
	w.refused = nil

	w.incomplete = []layer.Ref{home}
	assert("not while it may be meant by what cannot be read",
		"remove(Hold) Namespace shop: layer fleet/web holds an object that cannot be identified, and this might be it")
}

// having is a world in which the layer has some objects on the member and wants the first
// few of them.
func having(all, wanted int, kept keeping) world {
	w := world{
		listed: map[object.ID]v1alpha1.InventoryEntry{}, there: map[object.ID]member.Observation{}, kept: kept,
	}
	for i := range all {
		id := configMap(fmt.Sprintf("c%02d", i))
		w.listed[id], w.there[id] = listed(id, "d1"), there()
		if i < wanted {
			w.wanted = append(w.wanted, want(id, "d1"))
		}
	}
	return w
}

func TestRemovalsThatWaitForAPerson(t *testing.T) {
	type policy = v1alpha1.SyncPolicy
	for _, row := range []struct {
		name string
		world
		verb   verb
		reason string // of the problem; "" for none
	}{
		{"ten of fifteen", having(15, 5, keeping{}), apply, ""},
		{"eleven of fifteen", having(15, 4, keeping{}), hold, reasonPruneLimit},
		{"half of forty", having(40, 20, keeping{}), apply, ""},
		{"more than half of forty", having(40, 19, keeping{}), hold, reasonPruneLimit},
		{"within a limit of one's own", having(40, 10, keeping{policy: policy{PruneLimit: ptr.To[int32](30)}}), apply, ""},
		{"one, and a limit of none", having(40, 39, keeping{policy: policy{PruneLimit: ptr.To[int32](0)}}), hold, reasonPruneLimit},
		{"all of a layer that became empty", having(3, 0, keeping{emptied: true}), hold, reasonEmptied},
		{"and that may", having(30, 0, keeping{emptied: true, policy: policy{AllowEmpty: true}}), apply, ""},
		{"all of a layer that is deleted", having(30, 0, keeping{departing: true}), apply, ""},
		{"all of a layer that selects nobody", having(3, 0, keeping{departing: true, deserted: true}), hold, reasonSelectsNobody},
		{"and that may", having(3, 0, keeping{departing: true, deserted: true, policy: policy{AllowEmpty: true}}), apply, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			plan := row.plan()
			for _, r := range plan.removals {
				if r.verb != row.verb {
					t.Errorf("%s %s: %s", r.verb, r.id, r.why)
				}
			}
			var reasons []string
			for _, problem := range plan.problems {
				reasons = append(reasons, problem.Reason)
			}
			if want := slices.DeleteFunc([]string{row.reason}, func(r string) bool { return r == "" }); !slices.Equal(reasons, want) {
				t.Errorf("problems %v, want %v", reasons, want)
			}
		})
	}
}

func TestObjectsThatAreLeftBehind(t *testing.T) {
	a := configMap("a")
	ns := object.ID{Kind: "Namespace", Name: "shop"}
	claim := object.ID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	theirs := object.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "layers.syncline.dev"}
	cascading := v1alpha1.SyncPolicy{PruneCascading: true}
	for _, row := range []struct {
		name string
		id   object.ID
		kept keeping
		hub  map[string]bool
		want verb
	}{
		{"what takes nothing along", a, keeping{}, nil, apply},
		{"a namespace", ns, keeping{}, nil, leave},
		{"a namespace, by consent", ns, keeping{policy: cascading}, nil, apply},
		{"a claim", claim, keeping{departing: true}, nil, leave},
		{"without pruning", a, keeping{policy: v1alpha1.SyncPolicy{Prune: ptr.To(false)}}, nil, leave},
		{"pruning is for layers that stay", a, keeping{departing: true, policy: v1alpha1.SyncPolicy{Prune: ptr.To(false)}}, nil, apply},
		{"orphaned", a, keeping{departing: true, deletion: v1alpha1.DeletionOrphan}, nil, leave},
		{"orphaning is for layers that leave", a, keeping{deletion: v1alpha1.DeletionOrphan}, nil, apply},
		{"the hub's namespace", ns, keeping{policy: cascading}, map[string]bool{"shop": true}, leave},
		{"another namespace on the hub", ns, keeping{policy: cascading}, map[string]bool{"fleet": true}, apply},
		{"the hub's kinds", theirs, keeping{policy: cascading}, map[string]bool{}, leave},
		{"the same kinds on a member", theirs, keeping{policy: cascading}, nil, apply},
	} {
		t.Run(row.name, func(t *testing.T) {
			plan := world{
				listed: map[object.ID]v1alpha1.InventoryEntry{row.id: listed(row.id, "d1")},
				there:  map[object.ID]member.Observation{row.id: there()},
				kept:   row.kept, hub: row.hub,
			}.plan()
			if got := plan.removals[0]; got.verb != row.want {
				t.Errorf("%s: %s, want %s", got.verb, got.why, row.want)
			}
		})
	}
}
