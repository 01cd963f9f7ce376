package inventory

import (
	"errors"
	"fmt"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

const (
	// MaxListed is the largest number of entries that are stored as a list.
	MaxListed = 20
	// MaxData is the largest inventoryData in bytes: what the kind admits, which counts
	// characters of base64.
	MaxData = 786432 / 4 * 3
)

// TooLargeError says that an inventory does not fit into one binding.
type TooLargeError struct {
	Entries int
	// Size and Limit are in bytes, as stored.
	Size, Limit int
}

// Error names the size, the limit and the way out.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("an inventory of %d objects is %d bytes when stored, and a binding holds at most %d: split the layer in two",
		e.Entries, e.Size, e.Limit)
}

// Read is what the status lists, in the order in which it was written. The entries may share
// memory with the status. An error says that the inventory is not known, which is not the
// same as empty: nothing may be pruned or released on account of it.
func Read(status *v1alpha1.LayerBindingStatus) ([]v1alpha1.InventoryEntry, error) {
	switch {
	case len(status.InventoryData) == 0:
		return status.Inventory, nil
	case len(status.Inventory) > 0:
		return nil, errors.New("inventory and inventoryData are both set, and one of them is out of date")
	}
	entries, err := decode(status.InventoryData)
	if err != nil {
		return nil, fmt.Errorf("inventoryData %w", err)
	}
	return entries, nil
}

// Write makes the status list the entries, in the order given: equal entries in the same
// order give the same bytes. Exactly one of inventory and inventoryData is set, and neither
// for no entries. The error is a *TooLargeError, and leaves the status as it was.
func Write(status *v1alpha1.LayerBindingStatus, entries []v1alpha1.InventoryEntry) error {
	if len(entries) == 0 {
		entries = nil
	}
	if len(entries) <= MaxListed {
		status.Inventory, status.InventoryData = entries, nil
		return nil
	}
	data, err := encode(entries)
	if err != nil {
		return err
	}
	status.Inventory, status.InventoryData = nil, data
	return nil
}
