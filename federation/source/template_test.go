package source

import (
	"reflect"
	"strings"
	"testing"

	"github.com/syncline-dev/syncline/federation/object"
)

func TestText(t *testing.T) {
	facts := Facts{
		Name: "eu-1", Namespace: "fleet", Version: "v1.36.3+k3s1",
		Labels: map[string]string{"region": "eu", "size": "3"},
	}
	for text, want := range map[string]any{
		`plain`:                          "plain",
		`${cluster.name}`:                "eu-1",
		`a-${cluster.name}-${1}`:         "a-eu-1-1",
		`${1}`:                           int64(1),
		`${9007199254740993}`:            int64(9007199254740993),
		`${uint(7)}`:                     int64(7),
		`${1.5}`:                         1.5,
		`${true}`:                        true,
		`${null}`:                        nil,
		`${[1, 'a']}`:                    []any{int64(1), "a"},
		`${{'a': {'b': 1}}}`:             map[string]any{"a": map[string]any{"b": int64(1)}},
		`${cluster.version.minor}`:       int64(36),
		`${cluster.version.minor >= 30}`: true,
		`${cluster.version.gitVersion}`:  "v1.36.3+k3s1",
		`${cluster.labels}`:              map[string]any{"region": "eu", "size": "3"},
		`${int(cluster.labels.size)*2}`:  int64(6),
		`${cluster.labels[?'zone']}`:     nil,
		`${cluster.labels[?'zone'].orValue('none')}`: "none",
		`${'zone' in cluster.labels ? 'y' : 'n'}`:    "n",
		`$${cluster.name}`:                           "${cluster.name}",
		`$$${cluster.name}`:                          "$${cluster.name}",
		`a $${x} ${'b'}`:                             "a ${x} b",
		`$HOME $(X) {}`:                              "$HOME $(X) {}",
		`${'}'}`:                                     "}",
		`${"}" + '{'}`:                               "}{",
		`${'\'}'}`:                                   "'}",
		`${r'\'}x`:                                   `\x`,
		`${"""}"}""" + '''}'''}`:                     `}"}}`,
		"${1 // }\n+ 1}":                             int64(2),
		`${base64.encode(b'hi')}`:                    "aGk=",
		`${cluster.name.upperAscii()}`:               "EU-1",
		`${timestamp('2026-01-01T00:00:00Z')}`:       "2026-01-01T00:00:00Z",
		`x${1.5}${true}`:                             "x1.5true",
	} {
		got, err := (&renderer{expressions: newExpressions(facts)}).text(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", text, got, want)
		}
	}
}

func TestTextFails(t *testing.T) {
	for text, want := range map[string]string{
		`ab ${cluster.name`:        "column 4: ${ has no closing brace",
		`${'}`:                     "column 1: ${ has no closing brace",
		`${}`:                      "column 1: an expression is empty",
		`${cluster.nmae}`:          "${cluster.nmae}: column 8: undefined field 'nmae'",
		`é${ cluster.nmae}`:        "${ cluster.nmae}: column 9: undefined field 'nmae'",
		`${1 + 'a'}`:               "${1 + 'a'}: column 3: found no matching overload",
		`${cluster.labels.zone}`:   "no such key: zone",
		`a${[1]}`:                  "gives a list, which cannot stand inside text",
		`a${null}`:                 "gives null, which cannot stand inside text",
		`${cluster}`:               "has no JSON form: choose one of its fields",
		`${b'hi'}`:                 "encode them with base64.encode()",
		`${{1: 2}}`:                "a key that is not a string",
		`${18446744073709551615u}`: "an integer that Kubernetes cannot hold",
		`${1.0 / 0.0}`:             "a number that JSON cannot hold",
		`${[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, [0,1,2,3,4,5,6,7,8,9].map(c, [0,1,2,3,4,5,6,7,8,9].map(d, [0,1,2,3,4,5,6,7,8,9].map(e, e)))))}`: "cost limit exceeded",
	} {
		got, err := (&renderer{expressions: newExpressions(Facts{Name: "eu-1"})}).text(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

// FuzzSplit: splitting loses nothing, and what holds no ${ is as it was.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"${a}", "x$${y}${'}'}", "${{'a':1}}", "${r'\\'}", "${\"\"\"}\"\"\"}", "$", "${", "${//\n}", "é${a}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := split(text)
		if err != nil {
			if !strings.Contains(text, "${") {
				t.Errorf("no expression, and %v", err)
			}
			return
		}
		var again strings.Builder
		for _, s := range segments {
			if s.expression {
				again.WriteString("${" + s.text + "}")
			} else {
				again.WriteString(strings.ReplaceAll(s.text, "${", "$${"))
			}
		}
		if again.String() != text {
			t.Errorf("%q is split into %q", text, again.String())
		}
	})
}

// FuzzTemplate: whatever the author writes, rendering ends, and gives a value or an error.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"cluster.name", "1/0", "[1,2].map(x, x)", "{'a': cluster.labels}", "'a' * 3", "cluster", "optional.none()"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		failed := 0
		r := renderer{
			expressions: newExpressions(Facts{Name: "eu-1"}),
			fail:        func(object.Path, *templateError) { failed++ },
		}
		r.render("a", map[string]any{"a": "${" + expression + "}"})
		if failed > 1 {
			t.Errorf("one string failed %d times", failed)
		}
	})
}
