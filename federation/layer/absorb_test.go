package layer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

// TestAbsorbIsExact: whatever the layers below say, what a layer absorbs is what the strata
// render to, entry for entry and in order.
func TestAbsorbIsExact(t *testing.T) {
	pod, ok := Builtin().Type(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if !ok {
		t.Fatal("no type for Pods")
	}
	at := placeOf(pod)
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newStrata(make([]bool, 6))
		st := &staker{fail: func(path object.Path, reason, detail string) {
			t.Fatalf("seed %d: %s: %s: %s", seed, path, reason, detail)
		}}
		for ; st.layer < 6; st.layer++ {
			for range r.IntN(3) {
				st.stake(s.root, at, randomPod(r, true))
			}
			if r.IntN(2) == 0 {
				continue
			}
			before := s.value()
			after := randomPod(r, false)
			st.absorb(s.root, at, before, after)
			if diff := cmp.Diff(after, s.value()); diff != "" {
				t.Fatalf("seed %d: absorbed (-), rendered (+):\n%s\nbefore: %v", seed, diff, before)
			}
		}
	}
}

// TestAbsorbClaimsOnlyWhatChanges: the layer has no claim on a leaf that it leaves alone.
func TestAbsorbClaimsOnlyWhatChanges(t *testing.T) {
	pod, _ := Builtin().Type(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	s := newStrata(make([]bool, 2))
	st := &staker{}
	env := func(names ...string) map[string]any {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"name": name, "value": name})
		}
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "env": list}}}}
	}
	st.stake(s.root, placeOf(pod), env("a", "b"))
	st.layer = 1
	st.absorb(s.root, placeOf(pod), s.value(), env("c", "a"))

	v := surveyor{strata: s}
	v.survey(s.root, []string{}, 0, -1)
	var got []string
	for _, l := range v.leaves {
		got = append(got, fmt.Sprintf("%s layer=%d removed=%v", l.path, l.layer, l.removed))
	}
	want := []string{
		"spec.containers[c].env[c] layer=1 removed=false",
		"spec.containers[c].env[a] layer=0 removed=false",
		"spec.containers[c].env[b] layer=1 removed=true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// randomPod is a Pod's fields, perhaps with nulls.
func randomPod(r *rand.Rand, nulls bool) map[string]any {
	field := func(m map[string]any, name string, value any) {
		switch n := r.IntN(5); {
		case n == 0 && nulls:
			m[name] = nil
		case n > 1:
			m[name] = value
		}
	}
	word := func() string { return []string{"a", "b", "c"}[r.IntN(3)] }
	words := func() map[string]any {
		m := map[string]any{}
		for range r.IntN(3) {
			field(m, word(), word())
		}
		return m
	}
	list := func(entry func(name string) any) []any {
		out := []any{}
		for _, i := range r.Perm(3)[:r.IntN(4)] {
			out = append(out, entry([]string{"a", "b", "c"}[i]))
		}
		return out
	}
	metadata, spec := map[string]any{}, map[string]any{}
	field(metadata, "labels", words())
	field(metadata, "finalizers", list(func(name string) any { return name }))
	field(spec, "hostname", word())
	field(spec, "nodeSelector", words())
	field(spec, "containers", list(func(name string) any {
		c := map[string]any{"name": name}
		field(c, "image", word())
		field(c, "args", []any{word(), word()})
		field(c, "env", list(func(name string) any {
			e := map[string]any{"name": name}
			field(e, "value", word())
			return e
		}))
		return c
	}))
	pod := map[string]any{"metadata": metadata}
	field(pod, "spec", spec)
	return pod
}
