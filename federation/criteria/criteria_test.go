package criteria_test

import (
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/criteria"
)

// TestCompileNamesEachFault: each field that cannot be asked is a problem by its path, and the
// rest can be asked.
func TestCompileNamesEachFault(t *testing.T) {
	spec := &v1alpha1.LayerSpec{When: "size("}
	spec.Convergence.Assertions = []v1alpha1.Assertion{{Name: "a", Expression: "nothing"}, {Name: "b", Expression: "true"}}
	spec.Convergence.Health = []v1alpha1.HealthRule{{Kind: "Lamp", Current: "object.lit"}, {Kind: "Fan", Current: "1 +"}}
	c := criteria.Compile(spec)
	want := map[string]string{
		"spec.when": criteria.ReasonInvalidWhen,
		"spec.convergence.assertions[0].expression": "InvalidAssertion",
		"spec.convergence.health[1].current":        "InvalidHealthRule",
	}
	for _, p := range c.Problems {
		if want[p.Path] != p.Reason {
			t.Errorf("unexpected: %v", p)
		}
		delete(want, p.Path)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
	if c.When != nil || c.Assertions.Empty() {
		t.Error("what cannot be asked is asked, or what can be is not")
	}
}

// TestCacheCompilesEachGenerationOnce: criteria are shared until the layer is edited or made
// anew, and their problems name the layer.
func TestCacheCompilesEachGenerationOnce(t *testing.T) {
	l := &v1alpha1.Layer{}
	l.Namespace, l.Name, l.UID, l.Generation = "fleet", "web", "1", 1
	l.Spec.When = "size("
	cache := criteria.NewCache()
	first := cache.Of(l)
	if cache.Of(l.DeepCopy()) != first {
		t.Error("compiled twice")
	}
	if got := first.Problems[0].Layer; got != "fleet/web" {
		t.Errorf("the problem is of layer %q", got)
	}
	l.Generation = 2
	if cache.Of(l) == first {
		t.Error("an edit changes nothing")
	}
	l.Generation, l.UID = 1, "2"
	if cache.Of(l) == first {
		t.Error("another layer of the name is taken for the first")
	}
}
