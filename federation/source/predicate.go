package source

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
)

// predicateCostLimit bounds the work of one predicate on one object, in CEL's units: some
// thousand steps, which are a few milliseconds. A layer may ask each of its objects.
const predicateCostLimit = 10_000

// objectVariable is the object that a predicate is asked about.
const objectVariable = "object"

// predicates is the one CEL environment of predicates. It is never changed.
var predicates = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(append(functions(), cel.Variable(objectVariable, cel.DynType))...)
})

// Predicate is a CEL expression that is true or false of an object. It is immutable.
type Predicate struct{ program cel.Program }

// NewPredicate compiles an expression over "object". The error names the column at fault.
func NewPredicate(expression string) (*Predicate, error) {
	env, err := predicates()
	if err != nil {
		return nil, fmt.Errorf("environment of predicates: %w", err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("column %d: %s", max(first.Location.Column(), 0)+1, first.Message)
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("column 1: gives a value of type %s, and must be true or false", t)
	}
	program, err := env.Program(ast, cel.CostLimit(predicateCostLimit))
	if err != nil {
		return nil, fmt.Errorf("column 1: %w", err)
	}
	return &Predicate{program: program}, nil
}

// Holds says whether the expression is true of the object. It is not where it asks for a
// field that the object does not have. The error says why it can be neither; it is the same
// for the same object, and never holds a value.
func (p *Predicate) Holds(object map[string]any) (bool, error) {
	result, _, err := p.program.Eval(map[string]any{objectVariable: object})
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &cancelled):
		return false, errors.New("takes too much work on this object: make it simpler")
	case err != nil && isAbsence(err):
		return false, nil
	case err != nil:
		return false, errors.New("fails on this object: it works on a value of another type than it expects, or outside a type's bounds")
	}
	holds, ok := result.(types.Bool)
	if !ok {
		return false, fmt.Errorf("gives a value of type %s on this object, and must be true or false", result.Type().TypeName())
	}
	return bool(holds), nil
}

// isAbsence says whether CEL failed for a key or an index that is not there. It gives these
// errors no type and no other mark than their first words.
func isAbsence(err error) bool {
	text := err.Error()
	for _, words := range []string{"no such key", "no such attribute", "index out of bounds", "index '"} {
		if strings.HasPrefix(text, words) {
			return true
		}
	}
	return false
}
