package source

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
)

// costLimit bounds the work of one expression, in CEL's units: far above what a template
// needs and far below what a person would notice.
const costLimit = 100_000

// cluster is what expressions see of a member. Its fields are known to CEL's checker, so
// that a misspelt one is found without a member.
type cluster struct {
	Name      string            `cel:"name"`
	Namespace string            `cel:"namespace"`
	Labels    map[string]string `cel:"labels"`
	Version   clusterVersion    `cel:"version"`
}

type clusterVersion struct {
	GitVersion string `cel:"gitVersion"`
	Major      int64  `cel:"major"`
	Minor      int64  `cel:"minor"`
}

// functions are what all expressions of people can use besides CEL's own.
func functions() []cel.EnvOption {
	return []cel.EnvOption{cel.OptionalTypes(), ext.Strings(), ext.Math(), ext.Encoders()}
}

// environment is the one CEL environment of templates. It is never changed.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(append(functions(),
		// Native types replace the provider of types that libraries register theirs with, and
		// so come after them.
		ext.NativeTypes(ext.ParseStructTags(true), reflect.TypeFor[cluster](), reflect.TypeFor[clusterVersion]()),
		cel.Variable("cluster", cel.ObjectType("source.cluster")),
	)...)
})

// expressions evaluates CEL over one member's facts. Each expression is compiled once.
type expressions struct {
	input    map[string]any
	programs map[string]cel.Program
}

func newExpressions(facts Facts) *expressions {
	c := cluster{Name: facts.Name, Namespace: facts.Namespace, Labels: facts.Labels}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Version.GitVersion = facts.Version
	if v, err := version.ParseGeneric(facts.Version); err == nil {
		c.Version.Major, c.Version.Minor = int64(v.Major()), int64(v.Minor())
	}
	return &expressions{input: map[string]any{"cluster": c}, programs: map[string]cel.Program{}}
}

// value is the expression's value in JSON's types. Errors are *templateError.
func (e *expressions) value(expression string) (any, error) {
	result, err := e.evaluate(expression)
	if err != nil {
		return nil, err
	}
	value, err := toJSON(result)
	if err != nil {
		return nil, &templateError{expression: expression, column: 1, cause: err.Error()}
	}
	return value, nil
}

// text is the expression's value inside a longer string. Errors are *templateError.
func (e *expressions) text(expression string) (string, error) {
	value, err := e.value(expression)
	if err != nil {
		return "", err
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", &templateError{
		expression: expression, column: 1,
		cause: fmt.Sprintf("gives %s, which cannot stand inside text", typeName(value)),
	}
}

func (e *expressions) evaluate(expression string) (ref.Val, error) {
	program, err := e.compile(expression)
	if err != nil {
		return nil, err
	}
	result, _, err := program.Eval(e.input)
	if err != nil {
		return nil, &templateError{expression: expression, column: 1, cause: err.Error()}
	}
	return result, nil
}

func (e *expressions) compile(expression string) (cel.Program, error) {
	if program, ok := e.programs[expression]; ok {
		return program, nil
	}
	if strings.TrimSpace(expression) == "" {
		return nil, &templateError{column: 1, cause: "an expression is empty; write $${ for a literal ${"}
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("template environment: %w", err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &templateError{expression: expression, column: max(first.Location.Column(), 0) + 1, cause: first.Message}
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit))
	if err != nil {
		return nil, &templateError{expression: expression, column: 1, cause: err.Error()}
	}
	e.programs[expression] = program
	return program, nil
}

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
