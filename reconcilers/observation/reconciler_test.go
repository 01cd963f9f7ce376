package observation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/assertion"
)

var midday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// seen is what was observed for an assertion so long before midday: one value, as JSON.
func seen(name string, ago time.Duration, value string) v1alpha1.MemberObservation {
	return v1alpha1.MemberObservation{
		Assertion: name, UID: types.UID("uid-of-" + name), Generation: 1, At: metav1.NewTime(midday.Add(-ago)),
		Values: []v1alpha1.ValueObservation{{Name: "it", Value: &apiextensionsv1.JSON{Raw: []byte(value)}}},
	}
}

// sighted is seen at midday, where an old observation will do for a minute.
func sighted(name, value string) sighting { return sighting{seen(name, 0, value), time.Minute} }

// missed is a sighting of a member that was away.
func missed(name string) sighting {
	s := sighted(name, "1")
	s.At, s.Values = metav1.Time{}, nil
	return s
}

// described is what is stored, in short.
func described(observations []v1alpha1.MemberObservation) string {
	var all []string
	for _, o := range observations {
		all = append(all, fmt.Sprintf("%s=%s %s ago", o.Assertion, o.Values[0].Value.Raw, midday.Sub(o.At.Time)))
	}
	return strings.Join(all, ", ")
}

func TestWhatIsKept(t *testing.T) {
	old := func(observations ...v1alpha1.MemberObservation) []v1alpha1.MemberObservation { return observations }
	edited := sighted("a", "1")
	edited.Generation = 2
	for name, c := range map[string]struct {
		old  []v1alpha1.MemberObservation
		seen []sighting
		want string
	}{
		"the first":                          {nil, []sighting{sighted("a", "1")}, "a=1 0s ago"},
		"the same again":                     {old(seen("a", 30*time.Second, "1")), []sighting{sighted("a", "1")}, "a=1 30s ago"},
		"the same, written otherwise":        {old(seen("a", 30*time.Second, `{"x": 1, "y": 2}`)), []sighting{sighted("a", `{"y":2,"x":1}`)}, `a={"x": 1, "y": 2} 30s ago`},
		"the same, when the old will not do": {old(seen("a", 61*time.Second, "1")), []sighting{sighted("a", "1")}, "a=1 0s ago"},
		"another value":                      {old(seen("a", 30*time.Second, "1")), []sighting{sighted("a", "2")}, "a=2 0s ago"},
		"another question":                   {old(seen("a", 30*time.Second, "1")), []sighting{edited}, "a=1 0s ago"},
		"all, if one is new": {
			old(seen("a", 30*time.Second, "1"), seen("b", 30*time.Second, "1")),
			[]sighting{sighted("a", "1"), sighted("b", "2")},
			"a=1 0s ago, b=2 0s ago",
		},
		"what could not be seen again": {
			old(seen("a", time.Hour, "1"), seen("b", time.Hour, "1")), []sighting{missed("a"), sighted("b", "2")}, "a=1 1h0m0s ago, b=2 0s ago",
		},
		"nothing of a member that is away": {old(seen("a", time.Hour, "1")), []sighting{missed("a"), missed("b")}, "a=1 1h0m0s ago"},
		"nothing that nobody asks for":     {old(seen("a", 0, "1"), seen("b", 30*time.Second, "1")), []sighting{sighted("b", "1")}, "b=1 30s ago"},
		"nothing":                          {old(seen("a", 0, "1")), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := described(keep(c.old, c.seen, midday)); got != c.want {
				t.Errorf("keeps %s; want %s", got, c.want)
			}
		})
	}
}

// world answers every list with one object, or with an error.
type world struct{ err error }

func (w world) List(context.Context, v1alpha1.ObservedObjects, int) (*unstructured.UnstructuredList, error) {
	if w.err != nil {
		return nil, w.err
	}
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{{Object: map[string]any{"data": "x"}}}}
	list.SetResourceVersion("42")
	return list, nil
}

// TestWhatIsTaken: what somebody has to mend is part of an observation, and what passes by itself
// leaves the last one.
func TestWhatIsTaken(t *testing.T) {
	terminal := &member.Error{Failure: member.Failure{Class: member.Terminal, Message: "no rights"}}
	transient := &member.Error{Failure: member.Failure{Class: member.Transient, Message: "no answer"}}
	for name, c := range map[string]struct {
		world      world
		expression string
		want       v1alpha1.ValueObservation
		passes     bool
	}{
		"a value":      {world{}, `objects[0].data`, v1alpha1.ValueObservation{Value: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}, ResourceVersion: "42"}, false},
		"null":         {world{}, `objects[1].data`, v1alpha1.ValueObservation{ResourceVersion: "42"}, false},
		"no value":     {world{}, `objects[0].data + 1`, v1alpha1.ValueObservation{ResourceVersion: "42", Error: "fails on this member: it works on a value of another type than it expects, or outside a type's bounds"}, false},
		"no rights":    {world{terminal}, `objects[0].data`, v1alpha1.ValueObservation{Error: "no rights"}, false},
		"no answer":    {world{transient}, `objects[0].data`, v1alpha1.ValueObservation{}, true},
		"out of time":  {world{context.DeadlineExceeded}, `objects[0].data`, v1alpha1.ValueObservation{}, true},
		"no ownership": {world{member.ErrNotOwner}, `objects[0].data`, v1alpha1.ValueObservation{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			state, problems := assertion.CompileState(&v1alpha1.StateAssertion{Spec: v1alpha1.StateAssertionSpec{
				Expression: "true",
				Values:     []v1alpha1.ObservedValue{{Name: "it", Observe: v1alpha1.ObservedObjects{Kind: "ConfigMap"}, Expression: c.expression}},
			}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			c.want.Name = "it"
			taken, err := takeAll(t.Context(), c.world, &v1alpha1.MemberCluster{}, state.Values)
			switch {
			case c.passes && !errors.Is(err, c.world.err):
				t.Errorf("error %v, want %v", err, c.world.err)
			case c.passes:
			case err != nil || len(taken) != 1 || toText(taken[0]) != toText(c.want):
				t.Errorf("takes %s, %v; want %s", toText(taken[0]), err, toText(c.want))
			}
		})
	}
}

func toText(v v1alpha1.ValueObservation) string {
	value := "null"
	if v.Value != nil {
		value = string(v.Value.Raw)
	}
	return fmt.Sprintf("%s=%s at %q, error %q", v.Name, value, v.ResourceVersion, v.Error)
}

func TestPauses(t *testing.T) {
	ask := func(maxAge time.Duration, holds metav1.ConditionStatus, judged int64) question {
		a := &v1alpha1.StateAssertion{Spec: v1alpha1.StateAssertionSpec{Expression: "true", MaxAge: &metav1.Duration{Duration: maxAge}}}
		a.Generation, a.Status.ObservedGeneration, a.Status.Holds = 2, judged, holds
		state, problems := assertion.CompileState(a)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return question{a, state}
	}
	relaxedOne, attentiveOne := ask(time.Hour, metav1.ConditionTrue, 2), ask(time.Hour, metav1.ConditionFalse, 2)
	for name, c := range map[string]struct {
		asked []question
		want  time.Duration
	}{
		"nobody asks":            {nil, 0},
		"it holds":               {[]question{relaxedOne}, relaxed},
		"it does not":            {[]question{attentiveOne}, attentive},
		"it held before an edit": {[]question{ask(time.Hour, metav1.ConditionTrue, 1)}, attentive},
		"it must be fresh":       {[]question{ask(10*time.Second, metav1.ConditionTrue, 2)}, 5 * time.Second},
		"one of two does not":    {[]question{relaxedOne, attentiveOne}, attentive},
	} {
		for range 20 {
			if got := pause(c.asked); got > c.want || float64(got) < float64(c.want)*(1-jitter) {
				t.Errorf("%s: looks again after %s; want %s, or up to a fifth less", name, got, c.want)
			}
		}
	}
}
