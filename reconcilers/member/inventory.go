package member

import (
	"slices"

	"github.com/syncline-dev/syncline/api/v1alpha1"
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

// inventoryOf joins the inventories of bindings. Of two entries for one object the one
// that knows more counts. What cannot be read is returned by its key: it is never dropped.
func inventoryOf(bindings []*v1alpha1.LayerBinding) (inventory, []string) {
	joined := inventory{}
	var unreadable []string
	for _, binding := range bindings {
		for _, entry := range binding.Status.Inventory {
			id, err := object.ParseKey(entry.ID)
			if err != nil {
				unreadable = append(unreadable, entry.ID)
				continue
			}
			if known, ok := joined[id]; !ok || known.entry.UID == "" {
				joined[id] = held{entry: entry, home: refOf(binding)}
			}
		}
	}
	slices.Sort(unreadable)
	return joined, unreadable
}

// entries is an inventory under construction: what one binding will list.
type entries map[object.ID]v1alpha1.InventoryEntry

// sorted are the entries as a status lists them.
func (e entries) sorted() []v1alpha1.InventoryEntry {
	ids := make([]object.ID, 0, len(e))
	for id := range e {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, object.Compare)
	list := make([]v1alpha1.InventoryEntry, 0, len(ids))
	for _, id := range ids {
		list = append(list, e[id])
	}
	return list
}
