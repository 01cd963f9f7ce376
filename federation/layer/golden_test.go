package layer_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/internal/golden"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/federation/view"
)

// resultMark parts what people write from what comes of it.
const resultMark = "\n==> folded\n"

// TestGolden folds the layers in each file of testdata and compares the result with what
// stands below them. The files are the documentation of the semantics.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata", resultMark, func(t *testing.T, input string) string {
		stack, facts := readCase(t, input)
		return report(t, stack.Fold(facts, layer.Builtin()))
	})
}

// layerDoc is a Layer or ClusterLayer of a case.
type layerDoc struct {
	v1alpha1.Layer
	// FromSecret stands for manifests that came from a Secret.
	FromSecret []json.RawMessage `json:"fromSecret"`
}

// readCase reads Layers, ClusterLayers and at most one MemberCluster, whose facts templates
// see, from the documents of a case.
func readCase(t *testing.T, input string) (layer.Stack, source.Facts) {
	t.Helper()
	docs, err := source.ReadDocuments("case", []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	var layers []layer.Layer
	facts := source.Facts{Name: "eu-1", Namespace: "fleet", Version: "v1.36.3"}
	for _, doc := range docs {
		var kind metav1.TypeMeta
		if err := json.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind == "MemberCluster" {
			var m v1alpha1.MemberCluster
			decode(t, doc, &m)
			facts = source.Facts{Name: m.Name, Namespace: m.Namespace, Labels: m.Labels, Version: m.Status.Version}
			continue
		}
		var w layerDoc
		decode(t, doc, &w)
		layers = append(layers, w.layer(t))
	}
	return layer.NewStack(layers...), facts
}

func (w layerDoc) layer(t *testing.T) layer.Layer {
	t.Helper()
	ref := layer.Ref{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}
	content := source.FromSpec(&w.Spec).With(w.FromSecret)
	name, err := source.Name(ref.String(), content)
	if err != nil {
		t.Fatal(err)
	}
	return layer.Layer{Ref: ref, Revision: name, Content: content, Ignore: w.Spec.Sync.Ignore}
}

func decode(t *testing.T, doc json.RawMessage, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
}

// report writes a fold as people read it: the objects, the origin of each field, and the
// problems.
func report(t *testing.T, f *layer.Folded) string {
	t.Helper()
	var out strings.Builder
	for i, o := range f.Objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		if o.Held {
			out.WriteString("# " + o.String() + "\n")
			continue
		}
		raw, err := yaml.Marshal(o.Value)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(raw)
	}
	for _, o := range f.Objects {
		if !o.Held {
			out.WriteString("\n==> explain " + o.String() + "\n" + view.Explain(o))
		}
	}
	out.WriteString("\n==> problems\n")
	for _, p := range f.Problems {
		out.WriteString(p.String() + "\n")
	}
	for _, ref := range f.Incomplete {
		out.WriteString("nothing is pruned: layer " + ref.String() + " holds an object that cannot be identified\n")
	}
	return out.String()
}
