package assertion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/source"
)

// mostly is the assertion that 95 in a hundred pods run an image.
const mostly = `size(objects) > 0 && size(objects.filter(p, p.spec.containers[0].image == "web:2.1")) * 100 >= 95 * size(objects)`

var pods = &v1alpha1.ObservedObjects{Kind: "Pod", LabelSelector: "app=web"}

// set compiles one assertion named "it".
func set(t testing.TB, a v1alpha1.Assertion) *assertion.Set {
	t.Helper()
	a.Name = "it"
	s, problems := assertion.Compile([]v1alpha1.Assertion{a})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// podsOf is so many pods with the new image, and so many with the old one.
func podsOf(updated, old int) []map[string]any {
	var objects []map[string]any
	for i := range updated + old {
		image := "web:2.1"
		if i >= updated {
			image = "web:2.0"
		}
		objects = append(objects, map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": fmt.Sprint("web-", i), "labels": map[string]any{"app": "web"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": image}}},
			"status":   map[string]any{"phase": "Running"},
		})
	}
	return objects
}

func observed(objects []map[string]any) assertion.View {
	return assertion.View{Observed: map[string]assertion.Sight{"it": {Objects: objects}}}
}

func TestMostly(t *testing.T) {
	s := set(t, v1alpha1.Assertion{
		Observe: pods, Expression: mostly,
		Message: `string(size(objects.filter(p, p.spec.containers[0].image == "web:2.1"))) + " of " + string(size(objects)) + " run web:2.1"`,
	})
	for _, c := range []struct {
		updated, old int
		answer       expression.Answer
		message      string
	}{
		{0, 0, expression.False, "0 of 0 run web:2.1"},
		{19, 0, expression.True, ""},
		{18, 1, expression.False, "18 of 19 run web:2.1"},
		{19, 1, expression.True, ""},
		{18, 2, expression.False, "18 of 20 run web:2.1"},
		{0, 20, expression.False, "0 of 20 run web:2.1"},
		{950, 50, expression.True, ""},
	} {
		objects := podsOf(c.updated, c.old)
		forward := s.Evaluate(observed(objects))
		slices.Reverse(objects)
		backward := s.Evaluate(observed(objects))
		want := []assertion.Result{{Name: "it", Answer: c.answer, Message: c.message}}
		if !slices.Equal(forward, want) || !slices.Equal(backward, want) {
			t.Errorf("%d and %d: %v and, in the other order, %v; want %v", c.updated, c.old, forward, backward, want)
		}
	}
}

// TestAnswers: true, false and unknown are three things, and what is not true says why.
func TestAnswers(t *testing.T) {
	facts := source.Facts{Name: "eu-1", Namespace: "fleet", Labels: map[string]string{"region": "eu"}, Version: "v1.36.3"}
	layer := assertion.Sight{Objects: podsOf(1, 1)}
	for name, c := range map[string]struct {
		assertion v1alpha1.Assertion
		view      assertion.View
		answer    expression.Answer
		message   string
	}{
		"the member's facts": {
			v1alpha1.Assertion{Expression: `cluster.name == "eu-1" && cluster.labels.region == "eu" && cluster.version.minor >= 30`},
			assertion.View{Facts: facts},
			expression.True, "",
		},
		"an unknown version": {
			v1alpha1.Assertion{Expression: `cluster.version.minor >= 30`},
			assertion.View{},
			expression.Unknown, "the member's version is not known yet",
		},
		"the layer's objects go by two names": {
			v1alpha1.Assertion{Expression: `size(objects) == 2 && size(layer) == 2 && objects == layer`},
			assertion.View{Layer: layer},
			expression.True, "",
		},
		"observed objects stand beside the layer's": {
			v1alpha1.Assertion{Observe: pods, Expression: `size(objects) == 1 && size(layer) == 2`},
			assertion.View{Layer: layer, Observed: map[string]assertion.Sight{"it": {Objects: podsOf(1, 0)}}},
			expression.True, "",
		},
		"nothing selected": {
			v1alpha1.Assertion{Observe: pods, Expression: `size(objects) == 0 && objects.all(o, false)`},
			observed(nil),
			expression.True, "",
		},
		"plainly false": {
			v1alpha1.Assertion{Expression: `size(objects) == 3`},
			assertion.View{Layer: layer},
			expression.False, "does not hold",
		},
		"false for want of a field": {
			v1alpha1.Assertion{Expression: `objects.all(o, o.status.ready == true)`},
			assertion.View{Layer: layer},
			expression.False, `does not hold: "ready" is absent`,
		},
		"false for want of an entry": {
			v1alpha1.Assertion{Expression: `objects[7].kind == "Pod"`},
			assertion.View{Layer: layer},
			expression.False, "does not hold: something that it asks for is absent",
		},
		"an absent field that is guarded": {
			v1alpha1.Assertion{Expression: `!objects.exists(o, has(o.status.ready) && o.status.ready)`},
			assertion.View{Layer: layer},
			expression.True, "",
		},
		"a message on one line": {
			v1alpha1.Assertion{Expression: `false`, Message: `"on\n  " + cluster.name`},
			assertion.View{Facts: facts},
			expression.False, "on eu-1",
		},
		"a message that fails": {
			v1alpha1.Assertion{Expression: `false`, Message: `objects[7].kind`},
			assertion.View{Layer: layer},
			expression.False, "does not hold",
		},
		"a message about what cannot be read": {
			v1alpha1.Assertion{Expression: `false`, Message: `"there are " + string(size(layer))`},
			assertion.View{Layer: assertion.Sight{Unreadable: "forbidden"}},
			expression.False, "does not hold",
		},
		"objects that cannot be read": {
			v1alpha1.Assertion{Observe: pods, Expression: `true || size(objects) > 0`},
			assertion.View{Observed: map[string]assertion.Sight{"it": {Unreadable: "listing pods is forbidden"}}},
			expression.Unknown, "its objects cannot be read: listing pods is forbidden",
		},
		"objects that nobody has read": {
			v1alpha1.Assertion{Observe: pods, Expression: `size(objects) == 0`},
			assertion.View{},
			expression.Unknown, "its objects cannot be read: they were not looked at yet",
		},
		"a layer that cannot be read": {
			v1alpha1.Assertion{Observe: pods, Expression: `size(layer) == 0`},
			assertion.View{Layer: assertion.Sight{Unreadable: "the member does not answer"}},
			expression.Unknown, "the layer's objects cannot be read: the member does not answer",
		},
		"what cannot be read and does not matter": {
			v1alpha1.Assertion{Observe: pods, Expression: `size(layer) == 2`},
			assertion.View{Layer: layer, Observed: map[string]assertion.Sight{"it": {Unreadable: "forbidden"}}},
			expression.True, "",
		},
		"too much work": {
			v1alpha1.Assertion{Expression: `layer.all(a, layer.all(b, layer.all(c, a != b || b != c || a == c)))`},
			assertion.View{Layer: assertion.Sight{Objects: podsOf(100, 0)}},
			expression.Unknown, "takes too much work on this member: make it simpler",
		},
		"another type": {
			v1alpha1.Assertion{Expression: `objects[0].kind > 1`},
			assertion.View{Layer: layer},
			expression.Unknown, "fails on this member: it works on a value of another type than it expects, or outside a type's bounds",
		},
		"neither true nor false": {
			v1alpha1.Assertion{Expression: `objects[0].kind`},
			assertion.View{Layer: layer},
			expression.Unknown, "gives a value of type string on this member, and must be true or false",
		},
	} {
		got := set(t, c.assertion).Evaluate(c.view)
		want := []assertion.Result{{Name: "it", Answer: c.answer, Message: c.message}}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestNoSecretInMessages: no value of a Secret is in a message, whatever the author writes.
func TestNoSecretInMessages(t *testing.T) {
	const marker = "hunter2"
	secret := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"password": marker, "keys": map[string]any{}},
	}
	sight := assertion.Sight{Objects: append(podsOf(1, 0), secret)}
	view := assertion.View{Layer: sight, Observed: map[string]assertion.Sight{"it": sight}}
	for _, e := range []string{
		`false`,
		`objects[1].data.password == "a"`,
		`objects[1].data.keys[objects[1].data.password] == 1`,
		`int(objects[1].data.password) == 1`,
		`timestamp(layer[1].data.password) < timestamp("2026-01-01T00:00:00Z")`,
		`objects[1].data.password`,
		`"a".matches(objects[1].data.password + "(")`,
		`{"a": 1}[layer[1].data.password] == 1`,
		`duration(objects[1].data.password) > duration("1s")`,
		`quantity(objects[1].data.password) > 1.0`,
		`base64.decode(objects[1].data.password) == b""`,
		`"%d".format([objects[1].data.password]) == "a"`,
	} {
		for _, message := range []string{``, `objects[1].data.password`, `layer.map(l, l.?data.password.orValue("")).join()`} {
			for _, observe := range []*v1alpha1.ObservedObjects{nil, {Kind: "Secret"}} {
				s := set(t, v1alpha1.Assertion{Observe: observe, Expression: e, Message: message})
				r := s.Evaluate(view)[0]
				if r.Answer == expression.True || r.Message == "" || strings.Contains(r.Message, marker) {
					t.Errorf("%s with message %s: %v", e, message, r)
				}
			}
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("é", 400)
	for _, c := range []struct {
		assertion v1alpha1.Assertion
		view      assertion.View
	}{
		{v1alpha1.Assertion{Expression: `false`, Message: `"a" + cluster.name`}, assertion.View{Facts: source.Facts{Name: long}}},
		{v1alpha1.Assertion{Expression: `false`, Message: `cluster.name`}, assertion.View{Facts: source.Facts{Name: long}}},
		{v1alpha1.Assertion{Expression: `size(layer) == 0`}, assertion.View{Layer: assertion.Sight{Unreadable: long}}},
	} {
		got := set(t, c.assertion).Evaluate(c.view)[0].Message
		if len(got) > 512 || len(got) < 500 || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

// BenchmarkAssertion is one assertion over 100 pods of a member.
func BenchmarkAssertion(b *testing.B) {
	s := set(b, v1alpha1.Assertion{Observe: pods, Expression: mostly})
	view := observed(podsOf(96, 4))
	for b.Loop() {
		if r := s.Evaluate(view); r[0].Answer != expression.True {
			b.Fatal(r)
		}
	}
}
