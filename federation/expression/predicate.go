package expression

// objectVariable is the object that a predicate is asked about.
const objectVariable = "object"

// predicates compiles predicates. Their work on one object is some thousand steps, which are
// a few milliseconds: a layer may ask each of its objects.
var predicates = NewEnvironment(Config{
	On: "this object", CostLimit: 10_000, Variables: []Variable{Named[any](objectVariable)},
})

// Predicate is a CEL expression that is true or false of one object. It is immutable.
type Predicate struct{ program *Program }

// NewPredicate compiles an expression over "object". Errors are *Error.
func NewPredicate(expression string) (*Predicate, error) {
	program, err := predicates.Condition(expression)
	if err != nil {
		return nil, err
	}
	return &Predicate{program: program}, nil
}

// Ask says whether the expression is true of the object. It is False where it asks for a
// field that the object does not have. The text says why it is not True; it is the same for
// the same object, and holds no value.
func (p *Predicate) Ask(object map[string]any) (Answer, string) {
	return p.program.Ask(map[string]any{objectVariable: object})
}
