package expression

import (
	"errors"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// maxText is the longest text, in bytes, that a function makes of its arguments: more than
// an object of Kubernetes can hold.
const maxText = 2 << 20

var errTooLong = errors.New("text is too long")

// boundedStrings are the functions on strings of which one call could take all memory. CEL's
// limit of work counts a call only when it has been made.
func boundedStrings() []cel.EnvOption {
	return []cel.EnvOption{
		bounded("format", lengthOfAll), bounded("join", lengthOfJoined), bounded("replace", lengthOfReplaced),
	}
}

// bounded is a function of ext.Strings that refuses to make more than maxText, where size
// estimates from above what it would make.
func bounded(name string, size func(args []ref.Val) int) cel.EnvOption {
	env, err := cel.NewCustomEnv(ext.Strings())
	if err != nil {
		panic(err) // The options are constants.
	}
	function := env.Functions()[name]
	bindings, err := function.Bindings()
	if err != nil {
		panic(err)
	}
	calls := map[string]func(args ...ref.Val) ref.Val{}
	for _, b := range bindings {
		calls[b.Operator] = callOf(b)
	}
	var overloads []cel.FunctionOpt
	for _, o := range function.OverloadDecls() {
		call := calls[o.ID()]
		overloads = append(overloads, cel.MemberOverload(o.ID(), o.ArgTypes(), o.ResultType(),
			cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				if size(args) > maxText {
					return types.WrapErr(errTooLong)
				}
				return call(args...)
			})))
	}
	return cel.Function(name, overloads...)
}

// callOf calls a binding of whatever arity.
func callOf(o *functions.Overload) func(args ...ref.Val) ref.Val {
	switch {
	case o.Unary != nil:
		return func(args ...ref.Val) ref.Val { return o.Unary(args[0]) }
	case o.Binary != nil:
		return func(args ...ref.Val) ref.Val { return o.Binary(args[0], args[1]) }
	}
	return o.Function
}

// length is how long a value is as text, about, in bytes. It stops counting above maxText.
func length(value ref.Val) int {
	switch v := value.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	case traits.Mapper:
		sum := 0
		for it := v.Iterator(); sum <= maxText && it.HasNext() == types.True; {
			key := it.Next()
			sum += length(key) + length(v.Get(key))
		}
		return sum
	case traits.Lister:
		sum := 0
		for it := v.Iterator(); sum <= maxText && it.HasNext() == types.True; {
			sum += length(it.Next())
		}
		return sum
	}
	return 20 // The longest integer.
}

// lengthOfAll is for functions that use every argument once.
func lengthOfAll(args []ref.Val) int {
	sum := 0
	for _, arg := range args {
		sum += length(arg)
	}
	return sum
}

// lengthOfJoined is for list.join() and list.join(separator).
func lengthOfJoined(args []ref.Val) int {
	sum := length(args[0])
	list, ok := args[0].(traits.Lister)
	if !ok || len(args) < 2 {
		return sum
	}
	entries, _ := list.Size().(types.Int)
	return sum + int(entries)*length(args[1])
}

// lengthOfReplaced is for string.replace(old, new) and string.replace(old, new, times).
func lengthOfReplaced(args []ref.Val) int {
	text, isText := args[0].(types.String)
	old, isOld := args[1].(types.String)
	if !isText || !isOld {
		return 0 // The function refuses it.
	}
	return len(text) + strings.Count(string(text), string(old))*length(args[2])
}
