package object

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Digest is a short digest of any JSON value. Equal values have equal digests: JSON
// objects are written with sorted keys.
func Digest(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := sha256.Sum256(raw)
	return base64.RawURLEncoding.EncodeToString(sum[:12]), nil
}

// OwnedFields are the fields of a live object that a field manager owns by apply; nil if it
// owns none.
func OwnedFields(u *unstructured.Unstructured, manager string) (*fieldpath.Set, error) {
	for _, entry := range u.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != "Apply" || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("managed fields of %s: %w", Of(u), err)
		}
		return set, nil
	}
	return nil, nil
}

// Owned is the digest of the fields of a live object that a field manager owns by apply:
// which they are, and their values. It changes when another manager changes or takes one
// of them, and not when others add to the object. Without such fields it is "".
func Owned(u *unstructured.Unstructured, manager string) (string, error) {
	set, err := OwnedFields(u, manager)
	if set == nil || err != nil {
		return "", err
	}
	var owned []any
	set.Leaves().Iterate(func(p fieldpath.Path) {
		value, _, found := At(u.Object, p)
		owned = append(owned, p.String(), found, value)
	})
	return Digest(owned)
}

// At is the value at a path of a JSON object, and where it stands, as the tokens of a JSON
// pointer. A keyed list's entry is found by its keys.
func At(v any, path fieldpath.Path) (value any, pointer []string, found bool) {
	for _, element := range path {
		next, token, found := step(v, element)
		if !found {
			return nil, nil, false
		}
		v, pointer = next, append(pointer, token)
	}
	return v, pointer, true
}

func step(v any, element fieldpath.PathElement) (next any, token string, found bool) {
	if element.FieldName != nil {
		m, _ := v.(map[string]any)
		next, found := m[*element.FieldName]
		return next, *element.FieldName, found
	}
	list, _ := v.([]any)
	for i, item := range list {
		if selects(element, i, item) {
			return item, strconv.Itoa(i), true
		}
	}
	return nil, "", false
}

// selects says whether an element of a path means an entry of a list.
func selects(element fieldpath.PathElement, i int, item any) bool {
	switch {
	case element.Index != nil:
		return *element.Index == i
	case element.Value != nil:
		return item == (*element.Value).Unstructured()
	}
	m, ok := item.(map[string]any)
	if !ok || element.Key == nil {
		return false
	}
	for _, key := range *element.Key {
		if m[key.Name] != key.Value.Unstructured() {
			return false
		}
	}
	return true
}
