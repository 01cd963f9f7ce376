package source

import (
	"strings"
	"testing"
)

func TestPredicateHolds(t *testing.T) {
	object := map[string]any{
		"kind":     "Deployment",
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{"autoscale": "on"}},
		"spec":     map[string]any{"replicas": int64(3), "ratio": 0.5, "paused": nil, "args": []any{"a", "b"}},
	}
	for expression, want := range map[string]bool{
		`true`: true,
		`object.metadata.annotations['autoscale'] == 'on'`:      true,
		`object.metadata.annotations['autoscale'] == 'off'`:     false,
		`object.metadata.annotations['absent'] == 'on'`:         false,
		`object.metadata.annotations['absent'] != 'on'`:         false,
		`object.metadata.labels['absent'] == 'on'`:              false,
		`object.metadata[?'labels'].orValue({}).size() == 0`:    true,
		`object.spec.replicas > 1`:                              true,
		`object.spec.replicas > 1.5 && object.spec.ratio < 1.0`: true,
		`object.spec.args[0] == 'a'`:                            true,
		`object.spec.args[7] == 'a'`:                            false,
		`object.spec.args.exists(a, a == 'b')`:                  true,
		`['a'][object.spec.replicas] == 'a'`:                    false,
		`has(object.spec.paused)`:                               true,
		`object.spec.paused == null`:                            true,
		`object.status.phase == 'x' || object.kind != 'Job'`:    true,
		`has(object.status) && object.status.phase == 'Active'`: false,
		`object.spec.absent`:                                    false,
	} {
		p, err := NewPredicate(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got, err := p.Holds(object); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", expression, got, err, want)
		}
	}
}

func TestPredicateDoesNotCompile(t *testing.T) {
	for expression, want := range map[string]string{
		``:                       "column 1: Syntax error",
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
		got, err := p.Holds(object)
		if got || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s is %v, %v; want an error with %q", expression, got, err, want)
		}
	}
}

// FuzzPredicate: whatever the author writes, asking ends.
func FuzzPredicate(f *testing.F) {
	for _, seed := range []string{"object.a == 1", "object.a[object.b]", "[1].all(x, x > 0)", "'a'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		p, err := NewPredicate(expression)
		if err != nil {
			return
		}
		if holds, err := p.Holds(map[string]any{"a": int64(1), "b": "x"}); holds && err != nil {
			t.Errorf("true, and %v", err)
		}
	})
}
