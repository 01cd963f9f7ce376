package health

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
)

// ReasonInvalidHealthRule is why a layer is refused whose health rule cannot be asked.
const ReasonInvalidHealthRule = "InvalidHealthRule"

// Rules are a layer's own rules for the health of some kinds. They are immutable; nil has
// none.
type Rules struct{ rules map[schema.GroupKind]rule }

// rule is the questions of one kind, in the order in which they are asked.
type rule []question

type question struct {
	// path of the expression in the layer.
	path object.Path
	// predicate is nil where the expression does not compile.
	predicate *expression.Predicate
	// yes is the health of an object of which it is true.
	yes object.Health
}

// Compile prepares a layer's health rules. What cannot be asked is a problem of the layer. A
// rule that is at fault still stands for its kind: its objects are in progress, rather than
// healthy by rules that the author wanted replaced.
func Compile(specs []v1alpha1.HealthRule) (*Rules, []object.Problem) {
	rules := &Rules{rules: map[schema.GroupKind]rule{}}
	var problems []object.Problem
	for i, spec := range specs {
		path := object.Path("spec.convergence.health").Index(i)
		gk := schema.GroupKind{Group: spec.Group, Kind: spec.Kind}
		if _, twice := rules.rules[gk]; twice {
			problems = append(problems, invalid(path, fmt.Sprintf("another rule is for %s already: keep one", gk)))
			continue
		}
		r, faults := compile(path, spec)
		rules.rules[gk] = r
		problems = append(problems, faults...)
	}
	return rules, problems
}

func compile(path object.Path, spec v1alpha1.HealthRule) (rule, []object.Problem) {
	var r rule
	var problems []object.Problem
	for _, q := range []struct {
		field, expression string
		yes               object.Health
	}{
		{"failed", spec.Failed, object.Health{Status: object.Failed, Message: "has failed by its health rule"}},
		{"inProgress", spec.InProgress, object.Health{Status: object.InProgress, Message: "is in progress by its health rule"}},
		{"current", spec.Current, object.Health{Status: object.Current}},
	} {
		if q.expression == "" && q.field != "current" {
			continue
		}
		field := path.Field(q.field)
		predicate, err := expression.NewPredicate(q.expression)
		if err != nil {
			problems = append(problems, invalid(field, fmt.Sprintf("%v: mend the expression, or remove the rule", err)))
			predicate = nil
		}
		r = append(r, question{path: field, predicate: predicate, yes: q.yes})
	}
	return r, problems
}

func invalid(path object.Path, detail string) object.Problem {
	return object.Problem{
		Severity: object.Error, Path: path.String(), Reason: ReasonInvalidHealthRule, Detail: detail,
	}
}

// For says whether one of the rules is for the kind.
func (r *Rules) For(gk schema.GroupKind) bool {
	if r == nil {
		return false
	}
	_, ok := r.rules[gk]
	return ok
}

// Of is the health of a live object by the rule of its kind or, without one, as the function
// Of has it. The message is the same for the same object, and by a rule holds no value of it.
func (r *Rules) Of(u *unstructured.Unstructured) object.Health {
	gk := object.Of(u).GroupKind()
	switch {
	case !r.For(gk) || u.GetDeletionTimestamp() != nil:
		return Of(u)
	case behind(u):
		return object.Health{Status: object.InProgress, Message: unseen}
	}
	return r.rules[gk].of(u)
}

// of asks one question after the other until one is answered with yes, or cannot be answered.
func (r rule) of(u *unstructured.Unstructured) object.Health {
	for _, q := range r {
		if q.predicate == nil {
			return object.Health{Status: object.InProgress, Message: q.path.String() + " does not compile"}
		}
		switch answer, why := q.predicate.Ask(u.Object); answer {
		case expression.True:
			return q.yes
		case expression.Unknown:
			return object.Health{Status: object.InProgress, Message: q.path.String() + " " + why}
		}
	}
	return object.Health{Status: object.InProgress, Message: "is not current yet by its health rule"}
}
