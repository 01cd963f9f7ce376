package member

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	stored "github.com/syncline-dev/syncline/federation/inventory"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

// inventory is what all bindings of a member list, together: an object whose home changed
// is listed by both until the hand-over is written, and is one object all the same.
type inventory map[object.ID]held

// held is an entry and whose it is.
type held struct {
	entry v1alpha1.InventoryEntry
	home  layer.Ref
}

// with is the inventory after some entries have changed.
func (i inventory) with(changed entries) inventory {
	out := make(inventory, len(i))
	for id, entry := range changed {
		out[id] = held{entry: entry, home: i[id].home}
	}
	return out
}

// lists are what each binding of a member lists, as it stands there.
type lists map[layer.Ref]entries

// listsOf reads the inventories of bindings. The error is one that cannot be read: nothing may
// be concluded from the rest.
func listsOf(bindings ...*v1alpha1.LayerBinding) (lists, error) {
	all := lists{}
	for _, binding := range bindings {
		stored, err := stored.Read(&binding.Status)
		if err != nil {
			return nil, fmt.Errorf("inventory of binding %s/%s: %w", binding.Namespace, binding.Name, err)
		}
		list := make(entries, len(stored))
		for _, entry := range stored {
			id, err := object.ParseKey(entry.ID)
			if err != nil {
				return nil, fmt.Errorf("inventory of binding %s/%s: %w", binding.Namespace, binding.Name, err)
			}
			list[id] = entry
		}
		all[refOf(binding)] = list
	}
	return all, nil
}

// join is the inventory of a member. Of two entries for one object the one that knows more
// counts. What bindings know of objects on another cluster than the one of the UID, if that
// is known, is forgotten: which they are still counts.
func (l lists) join(bindings []*v1alpha1.LayerBinding, member types.UID) inventory {
	joined := inventory{}
	for _, binding := range bindings {
		about := binding.Status.MemberUID
		another := about != "" && member != "" && about != member
		for id, entry := range l[refOf(binding)] {
			if another {
				entry = v1alpha1.InventoryEntry{ID: entry.ID, Version: entry.Version}
			}
			if known, ok := joined[id]; !ok || known.entry.UID == "" {
				joined[id] = held{entry: entry, home: refOf(binding)}
			}
		}
	}
	return joined
}

// entries is an inventory under construction: what one binding will list.
type entries map[object.ID]v1alpha1.InventoryEntry

// ids are the objects, in their order.
func (e entries) ids() []object.ID { return slices.SortedFunc(maps.Keys(e), object.Compare) }

func (e entries) equal(other entries) bool {
	return maps.EqualFunc(e, other, func(a, b v1alpha1.InventoryEntry) bool {
		return a.ID == b.ID && a.Version == b.Version && a.UID == b.UID &&
			a.Applied == b.Applied && a.Owned == b.Owned && slices.Equal(a.Yielded, b.Yielded)
	})
}

// writeTo makes a status list the entries.
func (e entries) writeTo(status *v1alpha1.LayerBindingStatus) error {
	list := make([]v1alpha1.InventoryEntry, 0, len(e))
	for _, id := range e.ids() {
		list = append(list, e[id])
	}
	return stored.Write(status, list)
}

// describe names the objects for people, with the layer that had them if it is given.
func (e entries) describe(of layer.Ref) []string {
	names := make([]string, 0, len(e))
	for _, id := range e.ids() {
		name := id.String()
		if of.Name != "" {
			name += " (" + of.String() + ")"
		}
		names = append(names, name)
	}
	return names
}
