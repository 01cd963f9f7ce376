package layer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
)

// rounds is how many random stacks each law is tried on.
const rounds = 1000

// eachStack tries a law on random stacks of parts of one Deployment.
func eachStack(t *testing.T, law func(t *testing.T, r *rand.Rand, layers []dumbLayer)) {
	t.Helper()
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		layers := make([]dumbLayer, 1+r.IntN(4))
		for i := range layers {
			layers[i] = dumbLayer{enforce: r.IntN(4) == 0, part: randomPart(r)}
		}
		law(t, r, layers)
		if t.Failed() {
			for _, l := range layers {
				raw, err := json.Marshal(l.part)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("enforce=%v %s", l.enforce, raw)
			}
			t.Fatalf("seed %d", seed)
		}
	}
}

// stackOf writes parts as layers of one Deployment.
func stackOf(t *testing.T, layers []dumbLayer) layer.Stack {
	t.Helper()
	stack := make([]layer.Layer, len(layers))
	for i, l := range layers {
		stack[i] = layerOf(t, fmt.Sprintf("layer-%d", i), int32(i), l.enforce, deployment(l.part))
	}
	return layer.NewStack(stack...)
}

func layerOf(t *testing.T, name string, order int32, enforce bool, manifests ...map[string]any) layer.Layer {
	t.Helper()
	content := source.Content{Order: order, Enforce: enforce}
	for _, m := range manifests {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		content.Manifests = append(content.Manifests, raw)
	}
	revision, err := source.Name(name, content)
	if err != nil {
		t.Fatal(err)
	}
	return layer.Layer{Ref: layer.Ref{Kind: v1alpha1.KindClusterLayer, Name: name}, Revision: revision, Content: content}
}

// deployment is the part with an identity.
func deployment(part map[string]any) map[string]any {
	whole := runtime.DeepCopyJSON(part)
	whole["apiVersion"], whole["kind"] = "apps/v1", "Deployment"
	metadata, _ := whole["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"] = "web"
	whole["metadata"] = metadata
	return whole
}

func foldOne(t *testing.T, stack layer.Stack) layer.Object {
	t.Helper()
	folded := stack.Fold(source.Facts{}, layer.Builtin())
	if len(folded.Objects) != 1 || folded.Objects[0].Held {
		t.Fatalf("not one object: %v, %v", folded.Objects, folded.Problems)
	}
	return folded.Objects[0]
}

// TestFoldIsTheDumbFold compares the fold with the second implementation.
func TestFoldIsTheDumbFold(t *testing.T) {
	eachStack(t, func(t *testing.T, _ *rand.Rand, layers []dumbLayer) {
		want := normal("", deployment(dumbFold(layers)))
		got := normal("", foldOne(t, stackOf(t, layers)).Value)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dumb fold (-), fold (+):\n%s", diff)
		}
	})
}

// normal makes what the dumb implementation does not say alike: the order of entries, and
// whether a list that holds nothing is there.
func normal(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for field, item := range v {
			if item = normal(field, item); item != nil {
				out[field] = item
			}
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		keys, keyed := keysOf[name]
		if !keyed {
			return v
		}
		out := map[string]any{}
		for _, item := range v {
			out[dumbKey(keys, item)] = normal("", item)
		}
		return out
	}
	return value
}

// TestEveryLeafHasOneOrigin compares the leaves that Leaves names with those of the value.
func TestEveryLeafHasOneOrigin(t *testing.T) {
	eachStack(t, func(t *testing.T, _ *rand.Rand, layers []dumbLayer) {
		stack := stackOf(t, layers)
		o := foldOne(t, stack)
		want := map[string]any{}
		flatten("", "", o.Value, want)
		got := map[string]any{}
		for _, l := range o.Leaves() {
			if !slices.ContainsFunc(stack, func(s layer.Layer) bool { return s.Ref == l.Layer }) {
				t.Errorf("%s comes from %v, which is no layer", l.Path, l.Layer)
			}
			if l.Removed {
				continue
			}
			if _, twice := got[l.Path]; twice {
				t.Errorf("%s has two origins", l.Path)
			}
			got[l.Path] = l.Value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("value (-), leaves (+):\n%s", diff)
		}
	})
}

// TestLeafComesFromALayerThatSaysIt looks each origin up in the layer itself.
func TestLeafComesFromALayerThatSaysIt(t *testing.T) {
	eachStack(t, func(t *testing.T, _ *rand.Rand, layers []dumbLayer) {
		said := map[string]map[string]any{}
		for i, l := range layers {
			leaves := map[string]any{}
			flatten("", "", withoutNull(l.part), leaves)
			said[fmt.Sprintf("layer-%d", i)] = leaves
		}
		for _, l := range foldOne(t, stackOf(t, layers)).Leaves() {
			switch l.Value.(type) {
			case map[string]any, []any:
				continue // What is empty may have been emptied.
			}
			if l.Removed {
				if len(l.Over) == 0 {
					t.Errorf("%s is removed over nothing", l.Path)
				}
				continue
			}
			if value := said[l.Layer.Name][l.Path]; !cmp.Equal(value, l.Value) {
				t.Errorf("%s: %v is said to come from %s, which says %v", l.Path, l.Value, l.Layer, value)
			}
			for _, c := range l.Over {
				if value := said[c.Layer.Name][l.Path]; !cmp.Equal(value, c.Value) {
					t.Errorf("%s: %s is said to have lost with %v, and says %v", l.Path, c.Layer, c.Value, value)
				}
			}
		}
	})
}

func withoutNull(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, item := range v {
			if item != nil && name != "$patch" {
				out[name] = withoutNull(item)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, withoutNull(item))
		}
		return out
	}
	return value
}

// TestEmptyLayerChangesNothing puts layers that hold nothing anywhere into the stack.
func TestEmptyLayerChangesNothing(t *testing.T) {
	eachStack(t, func(t *testing.T, r *rand.Rand, layers []dumbLayer) {
		stack := stackOf(t, layers)
		more := append(slices.Clone(stack), layerOf(t, "empty", int32(r.IntN(len(layers)+1)), r.IntN(2) == 0))
		sameFold(t, stack, layer.NewStack(more...))
	})
}

// TestArrivalOrderDoesNotMatter shuffles the layers before they are stacked.
func TestArrivalOrderDoesNotMatter(t *testing.T) {
	eachStack(t, func(t *testing.T, r *rand.Rand, layers []dumbLayer) {
		stack := stackOf(t, layers)
		shuffled := slices.Clone(stack)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		sameFold(t, stack, layer.NewStack(shuffled...))
	})
}

func sameFold(t *testing.T, a, b layer.Stack) {
	t.Helper()
	x, y := foldOne(t, a), foldOne(t, b)
	if diff := cmp.Diff(x.Value, y.Value); diff != "" || x.Digest != y.Digest {
		t.Errorf("values differ: %s", diff)
	}
	if diff := cmp.Diff(x.Leaves(), y.Leaves()); diff != "" {
		t.Errorf("leaves differ: %s", diff)
	}
	problems := func(s layer.Stack) string { return fmt.Sprint(s.Fold(source.Facts{}, layer.Builtin()).Problems) }
	if diff := cmp.Diff(problems(a), problems(b)); diff != "" {
		t.Errorf("problems differ: %s", diff)
	}
}

// TestFoldOfAFoldIsStable folds what a fold gave.
func TestFoldOfAFoldIsStable(t *testing.T) {
	eachStack(t, func(t *testing.T, _ *rand.Rand, layers []dumbLayer) {
		once := foldOne(t, stackOf(t, layers))
		again := foldOne(t, layer.NewStack(layerOf(t, "folded", 0, false, once.Value)))
		if diff := cmp.Diff(once.Value, again.Value); diff != "" {
			t.Errorf("folded again it differs:\n%s", diff)
		}
	})
}

// TestEnforcedLayerIsObeyed: nothing that an enforced bottom layer sets is other in the
// result, and each attempt is reported.
func TestEnforcedLayerIsObeyed(t *testing.T) {
	reported := 0
	eachStack(t, func(t *testing.T, _ *rand.Rand, layers []dumbLayer) {
		for i := range layers {
			layers[i].enforce = i == 0
		}
		alone := foldOne(t, stackOf(t, layers[:1]))
		folded := stackOf(t, layers).Fold(source.Facts{}, layer.Builtin())
		got := map[string]any{}
		flatten("", "", folded.Objects[0].Value, got)
		for _, l := range alone.Leaves() {
			if empty(l.Value) || l.Removed {
				continue // Others may add to what is empty.
			}
			if !cmp.Equal(got[l.Path], l.Value) {
				t.Errorf("%s is %v, and %v is enforced", l.Path, got[l.Path], l.Value)
			}
		}
		reported += len(folded.Problems)
	})
	if reported == 0 {
		t.Error("no attempt was made: the test tests nothing")
	}
}

func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
