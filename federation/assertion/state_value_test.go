package assertion_test

import (
	"strings"
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/source"
)

func TestValueOfObjects(t *testing.T) {
	objects := []map[string]any{{
		"metadata": map[string]any{"name": "ca"},
		"data":     map[string]any{"ca.crt": "classified", "long": strings.Repeat("x", 1100)},
	}}
	facts := source.Facts{Name: "eu-1", Labels: map[string]string{"region": "eu"}, Version: "v1.36.3"}
	for name, c := range map[string]struct {
		kind, expression string
		facts            source.Facts
		value, failure   string
	}{
		"a number":                      {"ConfigMap", `size(objects)`, facts, `1`, ""},
		"a text":                        {"ConfigMap", `objects[0].data["ca.crt"]`, facts, `"classified"`, ""},
		"a map":                         {"ConfigMap", `{"name": objects[0].metadata.name}`, facts, `{"name":"ca"}`, ""},
		"a fact":                        {"ConfigMap", `cluster.labels.region`, facts, `"eu"`, ""},
		"null":                          {"ConfigMap", `null`, facts, "", ""},
		"a field that is not there":     {"ConfigMap", `objects[0].data.other`, facts, "", ""},
		"an object that is not there":   {"ConfigMap", `objects[1].data`, facts, "", ""},
		"too much":                      {"ConfigMap", `objects[0].data.long`, facts, "", "gives more than 1024 bytes: give a part of it, or its sha256"},
		"a digest of too much":          {"ConfigMap", `sha256(objects[0].data.long).size()`, facts, `64`, ""},
		"nonsense":                      {"ConfigMap", `objects[0].data["ca.crt"] + 1`, facts, "", "fails on this member"},
		"a version that is not known":   {"ConfigMap", `cluster.version.minor`, source.Facts{}, "", "the member's version is not known yet"},
		"of a Secret":                   {"Secret", `objects[0].data["ca.crt"]`, facts, `"sha256:0e6615a24e65e0a8c4ba4ec7d75b50504d7185e2ae308e86d3cfd6c3262f24e8"`, ""},
		"of a Secret, too much":         {"Secret", `objects[0].data.long`, facts, "sha256", ""},
		"of a Secret, nonsense":         {"Secret", `objects[0].data["ca.crt"] + 1`, facts, "", "fails on this member"},
		"of a Secret that is not there": {"Secret", `objects[1].data`, facts, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := stated("true")
			a.Spec.Values = []v1alpha1.ObservedValue{{Name: "it", Observe: v1alpha1.ObservedObjects{Kind: c.kind}, Expression: c.expression}}
			got, err := compileState(t, a).Values[0].Of(objects, c.facts)
			switch {
			case c.failure == "" && err != nil, c.failure != "" && (err == nil || !strings.HasPrefix(err.Error(), c.failure)):
				t.Errorf("error %v, want %q", err, c.failure)
			case err != nil && strings.Contains(err.Error(), "classified"):
				t.Errorf("the error holds a value: %v", err)
			case c.kind == "Secret" && strings.Contains(string(got), "classified"):
				t.Errorf("what is secret is shown: %s", got)
			case c.value == "sha256" && len(got) == len(`"sha256:"`)+64:
			case string(got) != c.value:
				t.Errorf("is %s, want %s", got, c.value)
			}
		})
	}
}
