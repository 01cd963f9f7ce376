package expression

import (
	"strings"
	"testing"
)

func TestPredicateAsk(t *testing.T) {
	object := map[string]any{
		"kind":     "Deployment",
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{"autoscale": "on"}},
		"spec":     map[string]any{"replicas": int64(3), "ratio": 0.5, "paused": nil, "args": []any{"a", "b"}},
	}
	for expression, want := range map[string]Answer{
		`true`: True,
		`object.metadata.annotations['autoscale'] == 'on'`:      True,
		`object.metadata.annotations['autoscale'] == 'off'`:     False,
		`object.metadata.annotations['absent'] == 'on'`:         False,
		`object.metadata.annotations['absent'] != 'on'`:         False,
		`object.metadata.labels['absent'] == 'on'`:              False,
		`object.metadata[?'labels'].orValue({}).size() == 0`:    True,
		`object.spec.replicas > 1`:                              True,
		`object.spec.replicas > 1.5 && object.spec.ratio < 1.0`: True,
		`object.spec.args[0] == 'a'`:                            True,
		`object.spec.args[7] == 'a'`:                            False,
		`object.spec.args.exists(a, a == 'b')`:                  True,
		`['a'][object.spec.replicas] == 'a'`:                    False,
		`has(object.spec.paused)`:                               True,
		`object.spec.paused == null`:                            True,
		`object.status.phase == 'x' || object.kind != 'Job'`:    True,
		`has(object.status) && object.status.phase == 'Active'`: False,
		`object.spec.absent`:                                    False,
	} {
		p, err := NewPredicate(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got, why := p.Ask(object); got != want {
			t.Errorf("%s is %s, %q; want %s", expression, got, why, want)
		}
	}
}

func TestPredicateDoesNotCompile(t *testing.T) {
	for expression, want := range map[string]string{
		``:                       "column 1: the expression is empty",
		`object.spec.replicas >`: "column 23: Syntax error",
		`1 == 'a'`:               "column 3: found no matching overload",
		`cluster.name == 'eu-1'`: "column 1: undeclared reference to 'cluster'",
		`'on'`:                   "gives a value of type string",
		`[object.spec]`:          "gives a value of type list(dyn)",
	} {
		_, err := NewPredicate(expression)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error with %q", expression, err, want)
		}
	}
}

// TestPredicateCannotTell: what is neither true nor false says why, and shows no value.
func TestPredicateCannotTell(t *testing.T) {
	many := make([]any, 2000)
	for i := range many {
		many[i] = "hunter2"
	}
	object := map[string]any{"data": map[string]any{"password": "hunter2", "many": many}}
	for expression, want := range map[string]string{
		`object.data.password`:                                     "gives a value of type string on this object",
		`object.data.password > 1`:                                 "another type than it expects",
		`int(object.data.password) > 1`:                            "another type than it expects",
		`object.data.password.matches(object.data.password + '(')`: "fails on this object",
		`object.data.many.all(a, object.data.many.all(b, a == b))`: "takes too much work",
	} {
		p, err := NewPredicate(expression)
		if err != nil {
			t.Fatal(err)
		}
		got, why := p.Ask(object)
		if got != Unknown || !strings.Contains(why, want) || strings.Contains(why, "hunter2") {
			t.Errorf("%s is %s, %q; want Unknown with %q", expression, got, why, want)
		}
	}
}
