package expression

import (
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// toJSON is a CEL value in the types that JSON decodes to; int64 stays exact.
func toJSON(value ref.Val) (any, error) {
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if uint64(v) > math.MaxInt64 {
			return nil, errors.New("gives an integer that Kubernetes cannot hold")
		}
		return int64(v), nil
	case types.Double:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
		return nil, errors.New("gives a number that JSON cannot hold")
	case types.String:
		return string(v), nil
	case types.Bytes:
		return nil, errors.New("gives bytes: encode them with base64.encode()")
	case types.Timestamp, types.Duration:
		return toJSON(v.ConvertToType(types.StringType))
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return toJSON(v.GetValue())
	case traits.Mapper:
		return mapToJSON(v)
	case traits.Lister:
		return listToJSON(v)
	}
	return nil, fmt.Errorf("gives %s, which has no JSON form: choose one of its fields", value.Type().TypeName())
}

func mapToJSON(m traits.Mapper) (any, error) {
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, errors.New("gives a map with a key that is not a string")
		}
		item, err := toJSON(m.Get(key))
		if err != nil {
			return nil, err
		}
		out[string(name)] = item
	}
	return out, nil
}

func listToJSON(l traits.Lister) (any, error) {
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		item, err := toJSON(it.Next())
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// typeName is how messages name the type of a JSON value.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return fmt.Sprintf("a %T", value)
}
