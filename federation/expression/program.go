package expression

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Program is a compiled expression. It is immutable.
type Program struct {
	program  cel.Program
	mentions mentions
	on       string
}

// Reads says whether the expression names the variable.
func (p *Program) Reads(variable string) bool { return p.mentions.variables[variable] }

// ReadsField says whether the expression may look at the field of the variable: it names the
// field, or uses the variable as a whole.
func (p *Program) ReadsField(variable, field string) bool {
	return p.mentions.whole[variable] || p.mentions.fields[variable+"."+field]
}

// Failure is why an expression has no value. Its text is the same whenever it fails for the
// same reason, and holds nothing of the input but names that the expression itself spells
// out.
type Failure struct {
	// Absent says that the expression asks for a field, key or entry that is not there.
	Absent bool
	text   string
	detail string
}

func (f *Failure) Error() string { return f.text }

// Detail is what CEL says. It may hold parts of the input: only for input that anybody may
// see.
func (f *Failure) Detail() string { return f.detail }

// Ask says whether the expression is true of the input, the values of the variables by name.
// Where it is not, the text says why, as far as there is a reason beside the expression
// itself: False because something is absent, Unknown because the expression has no value.
func (p *Program) Ask(input map[string]any) (Answer, string) {
	result, failure := p.eval(input)
	switch {
	case failure != nil && failure.Absent:
		return False, failure.text
	case failure != nil:
		return Unknown, failure.text
	case result == types.True:
		return True, ""
	case result == types.False:
		return False, ""
	}
	return Unknown, fmt.Sprintf("gives a value of type %s on %s, and must be true or false", result.Type().TypeName(), p.on)
}

// Value is the expression's value in the types that JSON decodes to; int64 stays exact.
// Errors are *Failure.
func (p *Program) Value(input map[string]any) (any, error) {
	result, failure := p.eval(input)
	if failure != nil {
		return nil, failure
	}
	value, err := toJSON(result)
	if err != nil {
		return nil, &Failure{text: err.Error(), detail: err.Error()}
	}
	return value, nil
}

// Text is the expression's value as it stands inside text. Errors are *Failure.
func (p *Program) Text(input map[string]any) (string, error) {
	value, err := p.Value(input)
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
	text := fmt.Sprintf("gives %s, which cannot stand inside text", typeName(value))
	return "", &Failure{text: text, detail: text}
}

func (p *Program) eval(input map[string]any) (ref.Val, *Failure) {
	result, _, err := p.program.Eval(input)
	if err == nil {
		return result, nil
	}
	failure := &Failure{detail: err.Error()}
	var cancelled interpreter.EvalCancelledError
	key, absent := absence(err)
	switch {
	case errors.As(err, &cancelled), errors.Is(err, errTooLong):
		failure.text = fmt.Sprintf("takes too much work on %s: make it simpler", p.on)
	case absent && p.mentions.words[key]:
		failure.Absent, failure.text = true, fmt.Sprintf("%q is absent", key)
	case absent:
		failure.Absent, failure.text = true, "something that it asks for is absent"
	default:
		failure.text = fmt.Sprintf("fails on %s: it works on a value of another type than it expects, or outside a type's bounds", p.on)
	}
	return nil, failure
}

// absence says whether CEL failed for something that is not there, and for which key if it
// was one. CEL gives these errors no type and no other mark than their first words.
func absence(err error) (key string, absent bool) {
	text := err.Error()
	if key, ok := strings.CutPrefix(text, "no such key: "); ok {
		return key, true
	}
	for _, words := range []string{"no such attribute", "index out of bounds", "index '", "optional.none() dereference"} {
		if strings.HasPrefix(text, words) {
			return "", true
		}
	}
	return "", false
}
