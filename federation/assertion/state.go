package assertion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

const (
	// DefaultMaxAge is the maxAge of a StateAssertion that does not say.
	DefaultMaxAge = 5 * time.Minute
	// DefaultWithin is its within.
	DefaultWithin = 2 * time.Minute

	// maxValue is the API's limit of an observed value in bytes of JSON.
	maxValue = 1024

	// Reasons of problems with a StateAssertion.
	reasonInvalidExpression = "InvalidExpression"
	reasonInvalidSelector   = "InvalidSelector"
)

// State is a StateAssertion, compiled. It is immutable.
type State struct {
	// MaxAge is how old an observation may be to count, and Within for how long the assertion
	// may fail to hold.
	MaxAge, Within time.Duration
	// Values are what is observed on each member.
	Values []Value

	namespace  string
	uid        types.UID
	generation int64
	selector   labels.Selector
	expression *expression.Program
	message    *expression.Program // nil if there is none
}

// Value is one value that is observed on each member. It is immutable.
type Value struct {
	// Name under which the assertion knows it.
	Name string
	// Observe selects the objects that it is of.
	Observe v1alpha1.ObservedObjects

	program *expression.Program
}

// membersVariable is what a StateAssertion's expression is about.
const membersVariable = "members"

// Both environments have the limit of work of a layer's assertions, for the same reason.
var (
	// valueEnvironment compiles what is asked of one member's objects.
	valueEnvironment = expression.NewEnvironment(expression.Config{
		On: "this member", CostLimit: costLimit,
		Variables: []expression.Variable{
			expression.Named[[]any](objectsVariable), expression.Named[expression.Cluster](clusterVariable),
		},
	})
	// stateEnvironment compiles what is asked of all members' values.
	stateEnvironment = expression.NewEnvironment(expression.Config{
		On: "these members", CostLimit: costLimit,
		Variables: []expression.Variable{expression.Named[any](membersVariable)},
	})
)

// CompileState reads a StateAssertion. It returns what is wrong with it, or else the State.
func CompileState(a *v1alpha1.StateAssertion) (*State, []object.Problem) {
	s := &State{
		MaxAge: durationOr(a.Spec.MaxAge, DefaultMaxAge), Within: durationOr(a.Spec.Within, DefaultWithin),
		namespace: a.Namespace, uid: a.UID, generation: a.Generation,
	}
	var problems []object.Problem
	blame := func(reason, path string, err error, wayOut string) {
		if err != nil {
			problems = append(problems, object.Problem{
				Severity: object.Error, Path: path, Reason: reason, Detail: err.Error() + ": " + wayOut,
			})
		}
	}
	var err error
	s.selector, err = metav1.LabelSelectorAsSelector(&a.Spec.ClusterSelector)
	blame(reasonInvalidSelector, "spec.clusterSelector", err, "mend the selector")
	for i, v := range a.Spec.Values {
		at := fmt.Sprintf("spec.values[%d]", i)
		_, err := labels.Parse(v.Observe.LabelSelector)
		blame(reasonInvalidSelector, at+".observe.labelSelector", err, "write it as for kubectl's --selector")
		program, err := valueEnvironment.Value(v.Expression)
		blame(reasonInvalidExpression, at+".expression", err, "mend the expression of value "+v.Name)
		s.Values = append(s.Values, Value{Name: v.Name, Observe: v.Observe, program: program})
	}
	s.expression, err = stateEnvironment.Condition(a.Spec.Expression)
	blame(reasonInvalidExpression, "spec.expression", err, "mend the expression")
	if a.Spec.Message != "" {
		s.message, err = stateEnvironment.Text(a.Spec.Message)
		blame(reasonInvalidExpression, "spec.message", err, "mend the expression")
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

func durationOr(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

// Selects says whether the assertion is about the member: one of its namespace that its
// selector matches and that stays.
func (s *State) Selects(member *v1alpha1.MemberCluster) bool {
	return member.Namespace == s.namespace && member.DeletionTimestamp.IsZero() &&
		s.selector.Matches(labels.Set(member.Labels))
}

// Of is the value over the objects that were observed, as JSON of at most 1 KiB. It is nil where
// it is null, or where the expression asks for what is not there. Of a Secret it is a digest.
// Errors hold no value, and are the same for the same objects.
func (v Value) Of(objects []map[string]any, facts source.Facts) (json.RawMessage, error) {
	if facts.Version == "" && v.program.ReadsField(clusterVariable, "version") {
		return nil, errors.New("the member's version is not known yet")
	}
	value, err := v.program.Value(map[string]any{objectsVariable: objects, clusterVariable: facts.Cluster()})
	var failure *expression.Failure
	switch {
	case errors.As(err, &failure) && failure.Absent:
		return nil, nil
	case err != nil || value == nil:
		return nil, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, errors.New("gives a value that has no JSON form")
	}
	if v.secret() {
		sum := sha256.Sum256(raw)
		return json.RawMessage(`"sha256:` + hex.EncodeToString(sum[:]) + `"`), nil
	}
	if len(raw) > maxValue {
		return nil, fmt.Errorf("gives more than %d bytes: give a part of it, or its sha256", maxValue)
	}
	return raw, nil
}

// secret says whether what is observed must not leave the process.
func (v Value) secret() bool { return v.Observe.Group == "" && v.Observe.Kind == "Secret" }
