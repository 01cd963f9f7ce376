package assertion_test

import (
	"strings"
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/object"
)

// TestCompileNamesTheFault: each fault is a problem that names assertion, field and column,
// and what is at fault is left out.
func TestCompileNamesTheFault(t *testing.T) {
	good := v1alpha1.Assertion{Name: "good", Expression: "size(objects) > 0"}
	for name, c := range map[string]struct {
		assertion v1alpha1.Assertion
		kept      bool
		problem   string
	}{
		"syntax": {
			v1alpha1.Assertion{Name: "bad", Expression: "size(objects) >"},
			false,
			`Error InvalidAssertion: spec.convergence.assertions[1].expression: assertion "bad": column 16: Syntax error`,
		},
		"an unknown variable": {
			v1alpha1.Assertion{Name: "bad", Expression: "size(pods) > 0"},
			false,
			`Error InvalidAssertion: spec.convergence.assertions[1].expression: assertion "bad": column 6: undeclared reference to 'pods'; the variables here: cluster, layer, objects: mend the expression, or remove the assertion`,
		},
		"not a condition": {
			v1alpha1.Assertion{Name: "bad", Expression: "size(objects)"},
			false,
			`Error InvalidAssertion: spec.convergence.assertions[1].expression: assertion "bad": column 1: gives a value of type int, and must be true or false: mend the expression, or remove the assertion`,
		},
		"empty": {
			v1alpha1.Assertion{Name: "bad", Expression: " "},
			false,
			`Error InvalidAssertion: spec.convergence.assertions[1].expression: assertion "bad": column 1: the expression is empty`,
		},
		"a broken message": {
			v1alpha1.Assertion{Name: "bad", Expression: "true", Message: "size(objects)"},
			true,
			`Error InvalidAssertion: spec.convergence.assertions[1].message: assertion "bad": column 1: gives a value of type int, and must be a string: mend the message, or remove it`,
		},
		"a broken selector": {
			v1alpha1.Assertion{Name: "bad", Expression: "true", Observe: &v1alpha1.ObservedObjects{Kind: "Pod", LabelSelector: "app in"}},
			false,
			`Error InvalidAssertion: spec.convergence.assertions[1].observe.labelSelector: assertion "bad": `,
		},
		"a name twice": {
			v1alpha1.Assertion{Name: "good", Expression: "false"},
			false,
			`Error InvalidAssertion: spec.convergence.assertions[1].name: assertion "good": another one has the name already: give it a name of its own`,
		},
	} {
		s, problems := assertion.Compile([]v1alpha1.Assertion{good, c.assertion})
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), c.problem) {
			t.Errorf("%s: %v, want %s", name, problems, c.problem)
		}
		want := 1
		if c.kept {
			want = 2
		}
		if got := len(s.Evaluate(assertion.View{})); got != want {
			t.Errorf("%s: %d assertions, want %d", name, got, want)
		}
	}
}

func TestWhatIsRead(t *testing.T) {
	pods := &v1alpha1.ObservedObjects{Kind: "Pod", LabelSelector: "app=web,tier in (a, b)"}
	for name, c := range map[string]struct {
		assertion       v1alpha1.Assertion
		layer, observed bool
	}{
		"nothing":            {v1alpha1.Assertion{Expression: "true"}, false, false},
		"the layer":          {v1alpha1.Assertion{Expression: "size(layer) > 0"}, true, false},
		"its own objects":    {v1alpha1.Assertion{Expression: "size(objects) > 0"}, true, false},
		"others":             {v1alpha1.Assertion{Expression: "size(objects) > 0", Observe: pods}, false, true},
		"others and its own": {v1alpha1.Assertion{Expression: "size(objects) > size(layer)", Observe: pods}, true, true},
		"in the message":     {v1alpha1.Assertion{Expression: "false", Message: "string(size(layer))", Observe: pods}, true, true},
	} {
		s := set(t, c.assertion)
		_, observed := s.Observed()["it"]
		if s.ReadsLayer() != c.layer || observed != c.observed {
			t.Errorf("%s: layer %v, observed %v", name, s.ReadsLayer(), observed)
		}
	}
	if s, problems := assertion.Compile(nil); !s.Empty() || s.ReadsLayer() || len(s.Observed()) > 0 || len(problems) > 0 {
		t.Error("an empty set asks for something")
	}
}

// FuzzCompile: whatever the author writes, compiling and asking end, and a fault names its
// column.
func FuzzCompile(f *testing.F) {
	f.Add("size(objects) > 0", "'none'", "app=web")
	f.Add("layer.all(l, l.status.ready)", "cluster.name", "")
	f.Add("objects[0] == cluster", "[1][2]", "a in (")
	f.Add("", "\x00", ",")
	view := assertion.View{
		Layer:    assertion.Sight{Objects: podsOf(1, 1)},
		Observed: map[string]assertion.Sight{"a": {Objects: podsOf(2, 0)}},
	}
	f.Fuzz(func(t *testing.T, expression, message, selector string) {
		s, problems := assertion.Compile([]v1alpha1.Assertion{{
			Name: "a", Expression: expression, Message: message,
			Observe: &v1alpha1.ObservedObjects{Kind: "Pod", LabelSelector: selector},
		}})
		for _, p := range problems {
			if p.Severity != object.Error || !strings.Contains(p.Detail, "column ") && !strings.HasSuffix(p.Path, ".labelSelector") {
				t.Errorf("%v names no column", p)
			}
		}
		if len(s.Evaluate(view)) != len(s.Observed()) {
			t.Error("an assertion gave no result")
		}
	})
}
