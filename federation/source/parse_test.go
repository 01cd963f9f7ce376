package source

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// What Parse makes of whole layers is told by the golden files of package layer; here is
// what they do not show.

func raws(manifests ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range manifests {
		out = append(out, json.RawMessage(m))
	}
	return out
}

// TestParseLeavesContentAlone: what Parse strips and renders is its own copy.
func TestParseLeavesContentAlone(t *testing.T) {
	content := Content{
		Template:  v1alpha1.TemplateCEL,
		Manifests: raws(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"x"},"data":{"k":"${cluster.name}"},"status":{}}`),
	}
	before := string(content.Manifests[0])
	for _, name := range []string{"eu-1", "us-1"} {
		source, problems := Parse(content, Facts{Name: name})
		if len(problems) > 0 || len(source.Objects) != 1 {
			t.Fatalf("%v %v", source, problems)
		}
		data, _ := source.Objects[0].Fields["data"].(map[string]any)
		if data["k"] != name {
			t.Errorf("for %s: %v", name, data)
		}
	}
	if string(content.Manifests[0]) != before {
		t.Error("the content has changed")
	}
}

// TestParseIdentity: what is known of an object that is refused, and what is not.
func TestParseIdentity(t *testing.T) {
	for manifest, want := range map[string]struct {
		id         object.ID
		reason     string
		path       string
		incomplete bool
	}{
		`null`: {reason: object.ReasonInvalidManifest, path: "manifests[0]", incomplete: true},
		`[]`:   {reason: object.ReasonInvalidManifest, path: "manifests[0]", incomplete: true},
		`{"apiVersion":"a/b/c","kind":"A","metadata":{"name":"a"}}`:                      {reason: object.ReasonInvalidManifest, path: "manifests[0].apiVersion", incomplete: true},
		`{"apiVersion":"v1","kind":"A","metadata":{"name":7}}`:                           {id: object.ID{Kind: "A"}, reason: object.ReasonInvalidManifest, path: "manifests[0].metadata.name", incomplete: true},
		`{"apiVersion":"v1","kind":"A","metadata":{"name":"a","namespace":[]}}`:          {id: object.ID{Kind: "A"}, reason: object.ReasonInvalidManifest, path: "manifests[0].metadata.namespace", incomplete: true},
		`{"apiVersion":"v1","kind":"A"}`:                                                 {id: object.ID{Kind: "A"}, reason: object.ReasonEmptyName, path: "manifests[0].metadata.name", incomplete: true},
		`{"apiVersion":"v1","kind":"A","metadata":{"name":"${cluster.nope}"}}`:           {reason: object.ReasonTemplateFailed, path: "manifests[0].metadata.name", incomplete: true},
		`{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":["${cluster.nope}"]}`: {id: object.ID{Kind: "A", Name: "a"}, reason: object.ReasonTemplateFailed, path: "manifests[0].x[0]"},
		`{"apiVersion":"v1","kind":"List","items":[null]}`:                               {reason: object.ReasonInvalidManifest, path: "manifests[0].items[0]", incomplete: true},
	} {
		source, problems := Parse(Content{Template: v1alpha1.TemplateCEL, Manifests: raws(manifest)}, Facts{})
		if len(problems) != 1 || len(source.Objects) != 0 {
			t.Errorf("%s: %v", manifest, problems)
			continue
		}
		p := problems[0]
		if p.Object != want.id || p.Reason != want.reason || p.Path != want.path || source.Incomplete != want.incomplete {
			t.Errorf("%s: %v, incomplete %v", manifest, p, source.Incomplete)
		}
	}
}

// TestParseConfidential: errors about Secrets, and about what came from Secrets, quote
// nothing that the author wrote.
func TestParseConfidential(t *testing.T) {
	content := Content{
		Template:  v1alpha1.TemplateCEL,
		Manifests: raws(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"a":"${hunter2}","b":"hunter2${"}}`),
		Patches: []v1alpha1.Patch{{
			Target: v1alpha1.Target{Kind: "Secret"},
			Merge:  &runtime.RawExtension{Raw: []byte(`{"stringData":{"a":"${hunter2}"}}`)},
		}},
	}.With(raws(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"a":"${'hunter2' + 1}"}}`))
	source, problems := Parse(content, Facts{})
	problems = append(problems, *source.Patches[0].Broken)
	if len(problems) != 4 {
		t.Fatalf("%v", problems)
	}
	for _, p := range problems {
		if strings.Contains(p.String(), "hunter2") {
			t.Errorf("%s", p)
		}
	}
}

// TestParsePatches: a patch that cannot be read is kept, so that what it selects is held.
func TestParsePatches(t *testing.T) {
	value := func(raw string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(raw)} }
	for name, c := range map[string]struct {
		patch  v1alpha1.Patch
		broken string
	}{
		"merge":         {v1alpha1.Patch{Merge: value(`{"a":"${cluster.name}"}`)}, ""},
		"exact numbers": {v1alpha1.Patch{JSONPatch: []v1alpha1.JSONPatchOperation{{Op: "add", Path: "/a", Value: value(`9007199254740993`)}}}, ""},
		"neither":       {v1alpha1.Patch{}, "patches[0]: has neither"},
		"not an object": {v1alpha1.Patch{Merge: value(`[]`)}, "patches[0].merge: is not an object"},
		"template":      {v1alpha1.Patch{Merge: value(`{"a":["${nope}"]}`)}, "patches[0].merge.a[0]: ${nope}: column 1"},
		"operand": {
			v1alpha1.Patch{JSONPatch: []v1alpha1.JSONPatchOperation{{Op: "add", Path: "/a", Value: value(`{"b":"${nope}"}`)}}},
			"patches[0].jsonPatch[0].value.b: ${nope}: column 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			source, problems := Parse(Content{Template: v1alpha1.TemplateCEL, Patches: []v1alpha1.Patch{c.patch}}, Facts{Name: "eu-1"})
			if len(problems) > 0 || len(source.Patches) != 1 {
				t.Fatalf("%v %v", source, problems)
			}
			p := source.Patches[0]
			switch {
			case c.broken == "" && p.Broken != nil:
				t.Errorf("%s", p.Broken)
			case c.broken != "" && (p.Broken == nil || !strings.Contains(p.Broken.Message(), c.broken)):
				t.Errorf("%v, want %q", p.Broken, c.broken)
			case name == "merge" && p.Merge["a"] != "eu-1":
				t.Errorf("%v", p.Merge)
			case name == "exact numbers" && p.Operations[0].Value != int64(9007199254740993):
				t.Errorf("%v", p.Operations)
			}
		})
	}
}
