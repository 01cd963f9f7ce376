package object

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Manager is one field manager's hold on a live object, as metadata.managedFields tells it.
// One name has a hold for each operation and subresource that it used.
type Manager struct {
	Name string
	// Operation is Apply or Update.
	Operation metav1.ManagedFieldsOperationType
	// Subresource through which it wrote, such as scale; empty for the object itself.
	Subresource string
	// At is when it last changed what it holds, by the member's clock; zero if not known.
	At time.Time

	fields *fieldpath.Set
}

// Managers are those that hold fields of a live object besides ours, who wrote last first.
func Managers(u *unstructured.Unstructured, ours ...string) ([]Manager, error) {
	all, err := managers(u)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m Manager) bool { return slices.Contains(ours, m.Name) }), nil
}

func managers(u *unstructured.Unstructured) ([]Manager, error) {
	var all []Manager
	for _, entry := range u.GetManagedFields() {
		m := Manager{
			Name: entry.Manager, Operation: entry.Operation, Subresource: entry.Subresource,
			fields: fieldpath.NewSet(),
		}
		if entry.Time != nil {
			m.At = entry.Time.Time
		}
		if entry.FieldsV1 != nil {
			if err := m.fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
				return nil, fmt.Errorf("managed fields of %s: %w", Of(u), err)
			}
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Manager) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Holds says whether the manager holds a field, or the undivided value that it is part of.
func (m Manager) Holds(path fieldpath.Path) bool { return covers(m.fields, path) }

// covers says whether a set holds a path, or something above it as a whole.
func covers(set *fieldpath.Set, path fieldpath.Path) bool {
	for i, element := range path {
		below, divided := set.Children.Get(element)
		if !divided || i == len(path)-1 {
			return set.Members.Has(element)
		}
		set = below
	}
	return false
}
