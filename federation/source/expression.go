package source

import (
	"errors"
	"strings"

	"github.com/syncline-dev/syncline/federation/expression"
)

// templates compiles the expressions of templates. Their limit of work is far above what a
// template needs and far below what a person would notice.
var templates = expression.NewEnvironment(expression.Config{
	On: "this member", CostLimit: 100_000,
	Variables: []expression.Variable{expression.Named[expression.Cluster](clusterVariable)},
})

// clusterVariable is what templates call the member.
const clusterVariable = "cluster"

// expressions evaluates CEL over one member's facts. Each expression is compiled once.
type expressions struct {
	input    map[string]any
	programs map[string]*expression.Program
}

func newExpressions(facts Facts) *expressions {
	return &expressions{
		input:    map[string]any{clusterVariable: facts.Cluster()},
		programs: map[string]*expression.Program{},
	}
}

// value is the expression's value in JSON's types. Errors are *templateError.
func (e *expressions) value(text string) (any, error) {
	program, err := e.compile(text)
	if err != nil {
		return nil, err
	}
	value, err := program.Value(e.input)
	if err != nil {
		return nil, failed(text, err)
	}
	return value, nil
}

// text is the expression's value inside a longer string. Errors are *templateError.
func (e *expressions) text(text string) (string, error) {
	program, err := e.compile(text)
	if err != nil {
		return "", err
	}
	value, err := program.Text(e.input)
	if err != nil {
		return "", failed(text, err)
	}
	return value, nil
}

func (e *expressions) compile(text string) (*expression.Program, error) {
	if program, ok := e.programs[text]; ok {
		return program, nil
	}
	if strings.TrimSpace(text) == "" {
		return nil, &templateError{column: 1, cause: "an expression is empty; write $${ for a literal ${"}
	}
	program, err := templates.Value(text)
	if err != nil {
		return nil, failed(text, err)
	}
	e.programs[text] = program
	return program, nil
}

// failed is the fault of a template whose expression does not compile or has no value. It
// says what CEL says: the facts of a member are nothing to hide.
func failed(text string, err error) *templateError {
	fault := &templateError{expression: text, column: 1, cause: err.Error()}
	var located *expression.Error
	var failure *expression.Failure
	switch {
	case errors.As(err, &located):
		fault.column, fault.cause = located.Column, located.Detail
	case errors.As(err, &failure):
		fault.cause = failure.Detail()
	}
	return fault
}
