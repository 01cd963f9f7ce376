package member

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// CededManager holds what we have ceded until somebody else sets it. A field that only we
// own, and no longer apply, would be deleted by the server: an autoscaler's Deployment
// would fall back to one replica in the moment in which it is handed over.
const CededManager = v1alpha1.FieldManager + "-ceded"

// Cede gives away what we own of an object below the pointers (tokens of JSON pointers),
// with the values that it has, so that the next Apply can leave it out. If we own nothing
// there, or the object is not there, it only looks. The error is an *Error.
func (m *Member) Cede(ctx context.Context, id object.ID, version string, pointers [][]string) error {
	live, err := m.Get(ctx, id, version)
	if Classify(err).Reason == ReasonNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := ownedBelow(live, pointers)
	if err != nil || ours.Empty() {
		return err
	}
	part, err := m.partOf(ctx, live, ours)
	if err != nil {
		return failed("cede", id, err)
	}
	_, err = m.apply(ctx, part, CededManager, false)
	return err
}

// ownedBelow are the fields that we own at or below the pointers.
func ownedBelow(live *unstructured.Unstructured, pointers [][]string) (*fieldpath.Set, error) {
	below := fieldpath.NewSet()
	owned, err := object.OwnedFields(live, v1alpha1.FieldManager)
	if owned == nil || err != nil {
		return below, err
	}
	owned.Leaves().Iterate(func(p fieldpath.Path) {
		_, place, found := object.At(live.Object, p)
		covered := slices.ContainsFunc(pointers, func(pointer []string) bool {
			return len(pointer) <= len(place) && slices.Equal(pointer, place[:len(pointer)])
		})
		if found && covered {
			below.Insert(p.Copy())
		}
	})
	return below, nil
}

// partOf is the part of a live object that consists of the fields, as it can be applied.
func (m *Member) partOf(ctx context.Context, live *unstructured.Unstructured, fields *fieldpath.Set) (*unstructured.Unstructured, error) {
	whole, err := m.typed(ctx, live)
	if err != nil {
		return nil, err
	}
	content, _ := whole.ExtractItems(fields, typed.WithAppendKeyFields()).AsValue().Unstructured().(map[string]any)
	part := &unstructured.Unstructured{Object: map[string]any{}}
	maps.Copy(part.Object, content)
	part.SetGroupVersionKind(live.GroupVersionKind())
	part.SetNamespace(live.GetNamespace())
	part.SetName(live.GetName())
	return part, nil
}
