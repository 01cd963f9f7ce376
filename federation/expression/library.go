package expression

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/api/resource"
)

// library is what all expressions of people can use besides CEL's own.
func library() []cel.EnvOption {
	return []cel.EnvOption{cel.OptionalTypes(), ext.Strings(), ext.Math(), ext.Encoders(), cel.Lib(ours{})}
}

// ours adds functions to CEL's libraries, and bounds to those of them that have none.
type ours struct{}

// CompileOptions implements cel.Library.
func (ours) CompileOptions() []cel.EnvOption {
	return append(boundedStrings(),
		cel.Function("sha256",
			cel.Overload(sha256Overload, []*cel.Type{cel.StringType}, cel.StringType, cel.UnaryBinding(sha256Hex))),
		cel.Function("quantity",
			cel.Overload("quantity_string", []*cel.Type{cel.StringType}, cel.DoubleType, cel.UnaryBinding(quantity))))
}

// ProgramOptions implements cel.Library: what CEL takes for one step, and is as much work as
// its arguments are long.
func (ours) ProgramOptions() []cel.ProgramOption {
	var trackers []interpreter.CostTrackerOption
	for _, overload := range []string{sha256Overload, "base64_decode_string", "base64_encode_bytes", "string_format"} {
		trackers = append(trackers, interpreter.OverloadCostTracker(overload, func(args []ref.Val, _ ref.Val) *uint64 {
			cost := uint64(1)
			for _, arg := range args {
				cost += uint64(length(arg)) / 10 // As CEL counts the steps over strings of its own.
			}
			return &cost
		}))
	}
	return []cel.ProgramOption{cel.CostTrackerOptions(trackers...)}
}

const sha256Overload = "sha256_string"

// sha256Hex is the digest of a string in hexadecimal, to compare what is long, or secret.
func sha256Hex(text ref.Val) ref.Val {
	s, ok := text.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	sum := sha256.Sum256([]byte(s))
	return types.String(hex.EncodeToString(sum[:]))
}

// quantity is a Kubernetes quantity, such as 500m or 64Gi, as a number, so that quantities
// compare whatever their units.
func quantity(text ref.Val) ref.Val {
	s, ok := text.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	q, err := resource.ParseQuantity(string(s))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Double(q.AsApproximateFloat64())
}
