package object

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

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

// Owned is the digest of the fields of a live object that a field manager owns by apply:
// which they are, and their values. It changes when another manager changes or takes one
// of them, and not when others add to the object. Without such fields it is "".
func Owned(u *unstructured.Unstructured, manager string) (string, error) {
	for _, entry := range u.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != "Apply" || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return "", fmt.Errorf("managed fields of %s: %w", Of(u), err)
		}
		var owned []any
		set.Leaves().Iterate(func(p fieldpath.Path) {
			value, found := At(u.Object, p)
			owned = append(owned, p.String(), found, value)
		})
		return Digest(owned)
	}
	return "", nil
}

// At is the value at a path of a JSON object. A keyed list's entry is found by its keys.
func At(v any, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		next, found := step(v, element)
		if !found {
			return nil, false
		}
		v = next
	}
	return v, true
}

func step(v any, element fieldpath.PathElement) (any, bool) {
	if element.FieldName != nil {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		next, found := m[*element.FieldName]
		return next, found
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	switch {
	case element.Index != nil:
		if i := *element.Index; i >= 0 && i < len(list) {
			return list[i], true
		}
	case element.Value != nil:
		want := (*element.Value).Unstructured()
		for _, item := range list {
			if item == want {
				return item, true
			}
		}
	case element.Key != nil:
		for _, item := range list {
			if m, ok := item.(map[string]any); ok && hasKeys(m, element) {
				return item, true
			}
		}
	}
	return nil, false
}

func hasKeys(m map[string]any, element fieldpath.PathElement) bool {
	for _, key := range *element.Key {
		if m[key.Name] != key.Value.Unstructured() {
			return false
		}
	}
	return true
}
