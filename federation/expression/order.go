package expression

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// inOrder makes expressions go through the maps of JSON in the order of their keys. CEL goes
// through them in Go's order, which differs each time: so would lists and texts made of them.
// Maps in native types keep that order. It takes the environment's adapter, and so comes after
// all options that set one.
func inOrder(env *cel.Env) (*cel.Env, error) {
	return cel.CustomTypeAdapter(orderedAdapter{env.CELTypeAdapter()})(env)
}

// orderedAdapter gives JSON to CEL, and leaves everything else to another adapter.
type orderedAdapter struct{ types.Adapter }

// NativeToValue implements types.Adapter.
func (a orderedAdapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case map[string]any:
		return orderedMap{types.NewStringInterfaceMap(a, v)}
	case map[string]string:
		return orderedMap{types.NewStringStringMap(a, v)}
	case []any, []map[string]any:
		return types.NewDynamicList(a, v)
	}
	return a.Adapter.NativeToValue(value)
}

// orderedMap is a map with strings for keys that is gone through in their order.
type orderedMap struct{ traits.Mapper }

// Iterator implements traits.Iterable.
func (m orderedMap) Iterator() traits.Iterator {
	var keys []string
	for it := m.Mapper.Iterator(); it.HasNext() == types.True; {
		if key, ok := it.Next().(types.String); ok {
			keys = append(keys, string(key))
		}
	}
	slices.Sort(keys)
	return types.NewStringList(types.DefaultTypeAdapter, keys).Iterator()
}
