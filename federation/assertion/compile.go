package assertion

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
)

// ReasonInvalidAssertion is why a layer is refused whose assertion cannot be asked.
const ReasonInvalidAssertion = "InvalidAssertion"

// The variables of assertions.
const (
	objectsVariable = "objects"
	layerVariable   = "layer"
	clusterVariable = "cluster"
)

// costLimit lets an expression look once at each of some ten thousand objects. Reaching it takes
// about a second: CEL's own book-keeping grows with the square of what a comprehension goes
// through.
const costLimit = 250_000

// environment compiles assertions.
var environment = expression.NewEnvironment(expression.Config{
	On: "this member", CostLimit: costLimit,
	Variables: []expression.Variable{
		expression.Named[[]any](objectsVariable),
		expression.Named[[]any](layerVariable),
		expression.Named[expression.Cluster](clusterVariable),
	},
})

// Set is the assertions of a layer, ready to be asked. It is immutable.
type Set struct{ assertions []assertion }

type assertion struct {
	name string
	// observe selects what the expressions know as "objects"; nil stands for the layer's own.
	observe   *v1alpha1.ObservedObjects
	condition *expression.Program
	// message is nil where the assertion gives none.
	message *expression.Program
}

// Compile prepares a layer's assertions. What cannot be asked is a problem of the layer: an
// assertion is left out of the set, or asked without its message if only that is at fault.
func Compile(assertions []v1alpha1.Assertion) (*Set, []object.Problem) {
	set := &Set{}
	var problems []object.Problem
	names := map[string]bool{}
	for i, spec := range assertions {
		path := object.Path("spec.convergence.assertions").Index(i)
		refuse := func(field object.Path, detail string) {
			problems = append(problems, object.Problem{
				Severity: object.Error, Path: path.Join(field).String(), Reason: ReasonInvalidAssertion,
				Detail: fmt.Sprintf("assertion %q: %s", spec.Name, detail),
			})
		}
		if names[spec.Name] {
			refuse("name", "another one has the name already: give it a name of its own")
			continue
		}
		names[spec.Name] = true
		if a, ok := compile(spec, refuse); ok {
			set.assertions = append(set.assertions, a)
		}
	}
	return set, problems
}

// compile reads one assertion, and tells refuse all that is wrong with it.
func compile(spec v1alpha1.Assertion, refuse func(field object.Path, detail string)) (assertion, bool) {
	a := assertion{name: spec.Name, observe: spec.Observe.DeepCopy()}
	ok := true
	if spec.Observe != nil {
		if _, err := labels.Parse(spec.Observe.LabelSelector); err != nil {
			refuse("observe.labelSelector", fmt.Sprintf("%v: write it as for kubectl --selector", err))
			ok = false
		}
	}
	var err error
	if a.condition, err = environment.Condition(spec.Expression); err != nil {
		refuse("expression", fmt.Sprintf("%v: mend the expression, or remove the assertion", err))
		ok = false
	}
	if spec.Message != "" {
		if a.message, err = environment.Text(spec.Message); err != nil {
			refuse("message", fmt.Sprintf("%v: mend the message, or remove it", err))
			a.message = nil
		}
	}
	return a, ok
}

// Empty says whether there is nothing to ask.
func (s *Set) Empty() bool { return len(s.assertions) == 0 }

// Observed is what has to be read on the member beside the layer's own objects, by the names
// of the assertions that ask for it.
func (s *Set) Observed() map[string]v1alpha1.ObservedObjects {
	observed := map[string]v1alpha1.ObservedObjects{}
	for _, a := range s.assertions {
		if a.observe != nil {
			observed[a.name] = *a.observe
		}
	}
	return observed
}

// ReadsLayer says whether any of the assertions, or their messages, look at the layer's own
// objects.
func (s *Set) ReadsLayer() bool {
	for _, a := range s.assertions {
		if a.reads(layerVariable) || a.observe == nil && a.reads(objectsVariable) {
			return true
		}
	}
	return false
}

func (a assertion) reads(variable string) bool {
	return a.condition.Reads(variable) || a.message != nil && a.message.Reads(variable)
}
