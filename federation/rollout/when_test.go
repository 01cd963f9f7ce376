package rollout

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/source"
)

func TestWhenHolds(t *testing.T) {
	edge := MemberFacts{
		Facts: source.Facts{Name: "edge-1", Namespace: "fleet", Version: "v1.36.3", Labels: map[string]string{"region": "eu"}},
		Kinds: []string{"v1/Pod", "apps/v1/Deployment"},
		Nodes: []Node{
			{Name: "a"},
			{Name: "b", Labels: map[string]string{"gpu": "a100"}, Capacity: map[string]string{"nvidia.com/gpu": "2", "memory": "65805396Ki"}},
		},
	}
	bare := MemberFacts{Facts: source.Facts{Name: "bare"}}
	blind := MemberFacts{
		Facts: source.Facts{Name: "blind"}, KindsUnknown: "discovery fails", NodesUnknown: "listing nodes is forbidden",
	}
	const gpu = `nodes.exists(n, int(n.capacity["nvidia.com/gpu"]) > 0)`
	for _, c := range []struct {
		when   string
		facts  MemberFacts
		answer expression.Answer
		text   string
	}{
		{``, blind, expression.True, ""},
		{gpu, edge, expression.True, ""},
		{gpu, bare, expression.False, "is not true of this member"},
		{gpu, MemberFacts{Nodes: edge.Nodes[:1]}, expression.False, `is not true of this member: "nvidia.com/gpu" is absent`},
		{gpu, blind, expression.Unknown, "the member's nodes are not known: listing nodes is forbidden"},
		{`nodes.exists(n, quantity(n.capacity.memory) >= quantity("60Gi"))`, edge, expression.True, ""},
		{`nodes.all(n, n.labels.gpu == "a100")`, edge, expression.False, `is not true of this member: "gpu" is absent`},
		{`nodes.exists(n, n.name == "b")`, edge, expression.True, ""},
		{`"apps/v1/Deployment" in kinds`, edge, expression.True, ""},
		{`"apps/v1/Deployment" in kinds`, bare, expression.False, "is not true of this member"},
		{`"apps/v1/Deployment" in kinds`, blind, expression.Unknown, "the kinds that the member serves are not known: discovery fails"},
		{`!("x.dev/v1/X" in kinds)`, blind, expression.Unknown, "the kinds that the member serves are not known: discovery fails"},
		{`cluster.version.minor >= 30`, edge, expression.True, ""},
		{`cluster.version.minor >= 40`, edge, expression.False, "is not true of this member"},
		{`cluster.version.minor < 30`, bare, expression.Unknown, "the member's version is not known yet"},
		{`cluster.labels.region == "eu"`, edge, expression.True, ""},
		{`cluster.labels.region == "eu"`, bare, expression.False, `is not true of this member: "region" is absent`},
		{`cluster.name != "edge-1"`, blind, expression.True, ""},
		{`int(cluster.labels.region) > 1`, edge, expression.Unknown, "fails on this member: it works on a value of another type than it expects, or outside a type's bounds"},
	} {
		w, err := NewWhen(c.when)
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		if answer, text := w.Holds(c.facts); answer != c.answer || text != c.text {
			t.Errorf("%s of %q is %s, %q; want %s, %q", c.when, c.facts.Name, answer, text, c.answer, c.text)
		}
	}
}

func TestWhenTakesTooMuchWork(t *testing.T) {
	var facts MemberFacts
	for i := range 300 {
		facts.Nodes = append(facts.Nodes, Node{Name: fmt.Sprint("node-", i)})
	}
	w, err := NewWhen(`nodes.all(a, nodes.all(b, a.name == b.name || a.name != b.name))`)
	if err != nil {
		t.Fatal(err)
	}
	if answer, text := w.Holds(facts); answer != expression.Unknown || text != "takes too much work on this member: make it simpler" {
		t.Error(answer, text)
	}
}

func TestWhenNeeds(t *testing.T) {
	for text, want := range map[string]struct{ kinds, nodes bool }{
		``:                              {false, false},
		`cluster.name == "kinds"`:       {false, false},
		`size(kinds) > 0`:               {true, false},
		`nodes.exists(n, true)`:         {false, true},
		`size(kinds) > size(nodes)`:     {true, true},
		`cluster.labels["nodes"] == ""`: {false, false},
	} {
		w, err := NewWhen(text)
		if err != nil {
			t.Fatal(err)
		}
		if kinds, nodes := w.Needs(); kinds != want.kinds || nodes != want.nodes {
			t.Errorf("%s needs kinds %v, nodes %v", text, kinds, nodes)
		}
	}
}

func TestWhenDoesNotCompile(t *testing.T) {
	for text, want := range map[string]string{
		` `:                           "column 1: the expression is empty: mend the expression, or remove it",
		`"a" in kind`:                 "column 8: undeclared reference to 'kind'; the variables here: cluster, kinds, nodes: mend the expression, or remove it",
		`nodes.exists(n, n.capasity)`: "column 18: undefined field 'capasity': mend the expression, or remove it",
		`cluster.name`:                "column 1: gives a value of type string, and must be true or false: mend the expression, or remove it",
		`1 in kinds`:                  "column 3: found no matching overload",
	} {
		_, err := NewWhen(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzWhen: whatever the author writes, compiling and asking end, and a fault names its
// column.
func FuzzWhen(f *testing.F) {
	for _, seed := range []string{"", `"a" in kinds`, `nodes.exists(n, int(n.capacity["gpu"]) > 0)`, "cluster.version.minor > 1", "nodes[0] == cluster"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := NewWhen(text)
		if err != nil {
			var located *expression.Error
			if !errors.As(err, &located) || located.Column < 1 {
				t.Errorf("%v names no column", err)
			}
			return
		}
		answer, why := w.Holds(MemberFacts{Kinds: []string{"a"}, Nodes: []Node{{Name: "a"}}})
		if (answer == expression.True) != (why == "") {
			t.Errorf("%s, %q", answer, why)
		}
	})
}
