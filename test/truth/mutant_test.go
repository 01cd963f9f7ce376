package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/syncline-dev/syncline/test/install"
)

// The source at hand has what the mutations change, and is Go afterwards.
func TestMutationsFitTheSource(t *testing.T) {
	for pkg, m := range mutations() {
		changed, err := m.of(pkg)
		if err != nil {
			t.Error(err)
		}
		for name, text := range changed {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBelieveReplacesWhatIsReadAlone(t *testing.T) {
	const source = `package p
func f(o *T) bool {
	o.Seen = visible
	return o.Applied && !o.Seen && o.Health
}
`
	const want = `package p
func f(o *T) bool {
	o.Seen = visible
	return true && !true && o.Health
}
`
	if got := mutated(t, believe, source); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestTrustAnyStatusBeginsWithTheStatussGeneration(t *testing.T) {
	got := mutated(t, trustAnyStatus, "package p\nfunc Of(live *unstructured.Unstructured) Health { return compute(live) }\n")
	if begin := strings.Index(got, "live.SetGeneration(seen)"); begin < 0 || begin > strings.Index(got, "compute") {
		t.Errorf("got\n%s", got)
	}
}

// A mutation that changes nothing would prove nothing.
func TestAMutationThatDoesNotFitFails(t *testing.T) {
	if changed, err := believe.of(install.Path("federation", "health")); err == nil {
		t.Errorf("changed %d files of a package that checks nothing", len(changed))
	}
}

func mutated(t *testing.T, m mutation, source string) string {
	t.Helper()
	text, _, err := m.mutate("source.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
