package assertion_test

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
)

func TestExampleCanBeJudged(t *testing.T) {
	text, err := os.ReadFile("../../deploy/examples/5-same-certificate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := &v1alpha1.StateAssertion{}
	if err := yaml.UnmarshalStrict(text, a); err != nil {
		t.Fatal(err)
	}
	a.UID, a.Generation = "uid-of-it", 2
	s := compileState(t, a)
	for _, c := range []struct {
		one, other, message string
		answer              expression.Answer
	}{
		{`"sha256:0123456789"`, `"sha256:0123456789"`, "", expression.True},
		{`null`, `null`, "", expression.True},
		{`"sha256:0123456789"`, `"sha256:abcdefghij"`, "a has sha256:01234567, b has sha256:abcdefgh", expression.False},
		{`"sha256:0123456789"`, `null`, "a has sha256:01234567, b has none", expression.False},
	} {
		members := []*v1alpha1.MemberCluster{seen("a", "", "", ""), seen("b", "", "", "")}
		for i, value := range []string{c.one, c.other} {
			members[i].Labels["tier"] = "prod"
			observed := &observation(members[i]).Values[0]
			observed.Name, observed.Value.Raw = "certificate", []byte(value)
		}
		if v := s.Judge(members, midday); v.Answer != c.answer || v.Message != c.message {
			t.Errorf("of %s and %s it is %s, %q; want %s, %q", c.one, c.other, v.Answer, v.Message, c.answer, c.message)
		}
	}
}
