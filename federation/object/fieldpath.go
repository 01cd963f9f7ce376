package object

import (
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// PathOf is a path of managed fields as people name it.
func PathOf(p fieldpath.Path) Path {
	var path Path
	for _, element := range p {
		switch {
		case element.FieldName != nil:
			path = path.Field(*element.FieldName)
		case element.Index != nil:
			path = path.Index(*element.Index)
		case element.Value != nil:
			path = path.Entry(fmt.Sprint((*element.Value).Unstructured()))
		case element.Key != nil:
			var keys []string
			for _, key := range *element.Key {
				keys = append(keys, fmt.Sprint(key.Value.Unstructured()))
			}
			path = path.Entry(strings.Join(keys, "/"))
		}
	}
	return path
}
