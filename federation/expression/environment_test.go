package expression

import (
	"errors"
	"strings"
	"testing"
)

type node struct {
	Name   string            `cel:"name"`
	Labels map[string]string `cel:"labels"`
}

var things = NewEnvironment(Config{
	On: "this thing", CostLimit: 100_000,
	Variables: []Variable{Named[any]("thing"), Named[[]any]("things"), Named[[]string]("words"), Named[[]node]("nodes"), Named[Cluster]("cluster")},
})

// TestErrorsNameThePlace: whatever is wrong with an expression, the error says where.
func TestErrorsNameThePlace(t *testing.T) {
	for expression, want := range map[string]string{
		``:                             "column 1: the expression is empty",
		" \n":                          "column 1: the expression is empty",
		`thing.a >`:                    "column 10: Syntax error",
		`thing.a ==`:                   "column 11: Syntax error",
		"thing.a == 1 &&\n  thong.b":   "line 2, column 3: undeclared reference to 'thong'; the variables here: cluster, nodes, thing, things, words",
		`1 == 'a'`:                     "column 3: found no matching overload",
		`cluster.nmae == 'a'`:          "column 8: undefined field 'nmae'",
		`cluster.version.patch == 1`:   "column 16: undefined field 'patch'",
		`nodes.exists(n, n.size == 1)`: "column 18: undefined field 'size'",
		`1 in words`:                   "column 3: found no matching overload",
		`'a'`:                          "column 1: gives a value of type string, and must be true or false",
		`[thing]`:                      "column 1: gives a value of type list(dyn), and must be true or false",
	} {
		_, err := things.Condition(expression)
		var located *Error
		if !errors.As(err, &located) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %q", expression, err, want)
		}
	}
	if _, err := things.Text(`1`); err == nil || err.Error() != "column 1: gives a value of type int, and must be a string" {
		t.Error(err)
	}
	if _, err := things.Value(`1`); err != nil {
		t.Error(err)
	}
}

func TestReads(t *testing.T) {
	for expression, want := range map[string]struct{ thing, cluster, version bool }{
		`true`:                             {},
		`thing.a`:                          {thing: true},
		`[1].exists(x, x == thing)`:        {thing: true},
		`has(thing.a)`:                     {thing: true},
		`cluster.name == 'a'`:              {cluster: true},
		`cluster.labels['version'] == 'a'`: {cluster: true},
		`cluster.version.minor > 1`:        {cluster: true, version: true},
		`has(cluster.version)`:             {cluster: true, version: true},
		`[cluster].all(c, c.name == 'a')`:  {cluster: true, version: true},
	} {
		p, err := things.Condition(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Reads("thing"); got != want.thing {
			t.Errorf("%s reads thing: %v", expression, got)
		}
		if got := p.Reads("cluster"); got != want.cluster {
			t.Errorf("%s reads cluster: %v", expression, got)
		}
		if got := p.ReadsField("cluster", "version"); got != want.version {
			t.Errorf("%s reads cluster.version: %v", expression, got)
		}
	}
}

// FuzzCondition: whatever the author writes, compiling and asking end.
func FuzzCondition(f *testing.F) {
	for _, seed := range []string{
		"thing.a == 1", "thing.a[thing.b]", "things.all(x, x > 0)", "'a'", "cluster.version.minor > 30 && 'a' in words",
		"nodes.exists(n, n.labels['a'] == 'b')", "'%s'.format([thing])", "sha256('a') == thing", "a\n+\nb", "optional.none()",
		"'a'.replace('', 'aa') == ['a'].join('b')", "\xff", "((((", "{'a': thing}.a",
	} {
		f.Add(seed)
	}
	input := map[string]any{
		"thing": map[string]any{"a": int64(1), "b": "x"}, "things": []map[string]any{{"a": int64(1)}},
		"words": []string{"a"}, "nodes": []node{{Name: "a"}}, "cluster": Cluster{Name: "eu-1"},
	}
	f.Fuzz(func(t *testing.T, expression string) {
		p, err := things.Condition(expression)
		if err != nil {
			var located *Error
			if !errors.As(err, &located) || located.Column < 1 || located.Line < 1 {
				t.Errorf("%q: %v names no place", expression, err)
			}
			return
		}
		answer, why := p.Ask(input)
		if answer == True && why != "" || answer == Unknown && why == "" {
			t.Errorf("%q is %s, %q", expression, answer, why)
		}
	})
}
