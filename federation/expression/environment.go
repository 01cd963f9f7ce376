package expression

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// Config says what the expressions of one purpose are about.
type Config struct {
	// On names what they are asked about, as errors name it: "this object".
	On string
	// CostLimit bounds the work of one evaluation, in CEL's units: steps, and characters of
	// strings by the ten. A hundred thousand are a fifth of a second or so.
	CostLimit uint64
	// Variables are what the expressions can name.
	Variables []Variable
}

// Variable is a name that expressions know, and its type.
type Variable struct {
	name   string
	value  *cel.Type
	native []reflect.Type
}

// Named is a variable of a Go type: any, a string, a struct with cel tags, or a slice of one
// of these. CEL's checker knows the fields of structs, so that a misspelt one is found
// without a value.
func Named[T any](name string) Variable {
	v := Variable{name: name}
	v.value = v.typeOf(reflect.TypeFor[T]())
	return v
}

func (v *Variable) typeOf(t reflect.Type) *cel.Type {
	switch t.Kind() {
	case reflect.Interface:
		return cel.DynType
	case reflect.String:
		return cel.StringType
	case reflect.Slice:
		return cel.ListType(v.typeOf(t.Elem()))
	case reflect.Struct:
		v.native = append(v.native, t)
		return cel.ObjectType(t.String())
	}
	panic(fmt.Sprintf("expressions have no variables of type %s", t))
}

// Environment compiles the expressions of one purpose. It is immutable.
type Environment struct {
	config Config
	cel    func() *cel.Env
}

// NewEnvironment is the environment for a configuration.
func NewEnvironment(config Config) *Environment {
	return &Environment{config: config, cel: sync.OnceValue(func() *cel.Env {
		env, err := cel.NewEnv(config.options()...)
		if err != nil {
			panic(err) // Configurations are constants of the program.
		}
		return env
	})}
}

func (c Config) options() []cel.EnvOption {
	options := library()
	native := []any{ext.ParseStructTags(true)}
	for _, v := range c.Variables {
		options = append(options, cel.Variable(v.name, v.value))
		for _, t := range v.native {
			native = append(native, t)
		}
	}
	// Native types replace the provider of types that libraries register theirs with, and so
	// come after them.
	return append(options, ext.NativeTypes(native...), inOrder)
}

// Error is why an expression does not compile.
type Error struct {
	// Line and Column are the place in the expression, counted in characters from one.
	Line, Column int
	// Detail says what is wrong.
	Detail string
}

func (e *Error) Error() string {
	if e.Line > 1 {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Detail)
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Detail)
}

// Condition compiles an expression that is to be true or false. Errors are *Error.
func (e *Environment) Condition(expression string) (*Program, error) {
	return e.compile(expression, cel.BoolType, "true or false")
}

// Text compiles an expression that is to give text. Errors are *Error.
func (e *Environment) Text(expression string) (*Program, error) {
	return e.compile(expression, cel.StringType, "a string")
}

// Value compiles an expression that may give anything. Errors are *Error.
func (e *Environment) Value(expression string) (*Program, error) {
	return e.compile(expression, cel.DynType, "")
}

// compile refuses an expression whose type is known to be another than the one wanted.
func (e *Environment) compile(expression string, want *cel.Type, named string) (*Program, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, &Error{Line: 1, Column: 1, Detail: "the expression is empty"}
	}
	env := e.cel()
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &Error{
			Line: max(first.Location.Line(), 1), Column: max(first.Location.Column(), 0) + 1, Detail: e.detail(first.Message),
		}
	}
	given := ast.OutputType()
	if want != cel.DynType && !given.IsExactType(want) && !given.IsExactType(cel.DynType) {
		return nil, &Error{Line: 1, Column: 1, Detail: fmt.Sprintf("gives a value of type %s, and must be %s", given, named)}
	}
	program, err := env.Program(ast, cel.CostLimit(e.config.CostLimit))
	if err != nil {
		return nil, &Error{Line: 1, Column: 1, Detail: err.Error()}
	}
	return &Program{program: program, mentions: mentionsOf(ast), on: e.config.On}, nil
}

// detail is CEL's message with the way out, where the way out is another name.
func (e *Environment) detail(message string) string {
	message, undeclared := strings.CutSuffix(message, " (in container '')")
	if !undeclared {
		return message
	}
	var names []string
	for _, v := range e.config.Variables {
		names = append(names, v.name)
	}
	slices.Sort(names)
	return message + "; the variables here: " + strings.Join(names, ", ")
}
