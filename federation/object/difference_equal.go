package object

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// likeness is how much alike values must be.
type likeness int

const (
	// exactly: equal, with numbers compared by value and nulls as if they were not there.
	exactly likeness = iota
	// respelled: or a quantity in another spelling, a map with more in it, or one without
	// zeros.
	respelled
	// filled: or anything in place of a zero.
	filled
)

// likeness is how much alike a field must be to what we sent: what the server may have made
// of it while nobody else has changed it.
func (c *comparison) likeness(s spot) likeness {
	switch {
	case c.ours == nil:
		return respelled
	case covers(c.ours, s.at):
		return filled
	}
	return exactly
}

// same says whether a value is as wanted.
func same(want, have any, how likeness) bool {
	switch want := want.(type) {
	case nil:
		return have == nil || how > exactly
	case map[string]any:
		have, ok := have.(map[string]any)
		return ok && sameFields(want, have, how)
	case []any:
		have, ok := have.([]any)
		return ok && slices.EqualFunc(want, have, func(a, b any) bool { return same(a, b, how) })
	case string, bool:
		if want == have {
			return true
		}
	default:
		if sameNumber(want, have) {
			return true
		}
	}
	return how == filled && isZero(want) || how >= respelled && sameQuantity(want, have)
}

func sameFields(want, have map[string]any, how likeness) bool {
	for name, item := range want {
		there, found := have[name]
		if !found && (item == nil || how >= respelled && isZero(item)) {
			continue
		}
		if !same(item, there, how) {
			return false
		}
	}
	if how >= respelled {
		return true
	}
	for name, there := range have {
		if _, asked := want[name]; !asked && there != nil {
			return false
		}
	}
	return true
}

func sameNumber(want, have any) bool {
	a, isInt := want.(int64)
	if b, ok := have.(int64); isInt && ok {
		return a == b
	}
	x, isNumber := number(want)
	y, ok := number(have)
	return isNumber && ok && x == y
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// sameQuantity says whether two scalars are one resource quantity in two spellings.
func sameQuantity(want, have any) bool {
	a, err := resource.ParseQuantity(fmt.Sprint(want))
	if err != nil {
		return false
	}
	b, err := resource.ParseQuantity(fmt.Sprint(have))
	return err == nil && a.Cmp(b) == 0
}

// isZero says whether a value is one that a server may leave out.
func isZero(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return value == nil || reflect.ValueOf(value).IsZero()
}
