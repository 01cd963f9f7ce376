package stack_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/criteria"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

var member = &v1alpha1.MemberCluster{ObjectMeta: metav1.ObjectMeta{
	Namespace: "fleet", Name: "eu-1", Labels: map[string]string{"region": "eu"},
}}

// revisions knows every revision but the broken one.
type revisions struct{}

var errBroken = errors.New("the hub does not answer")

func (revisions) Load(_ context.Context, _ v1alpha1.Layered, revision string) (source.Content, error) {
	if revision == "broken" {
		return source.Content{}, errBroken
	}
	return source.Content{}, nil
}

func web(change func(*v1alpha1.Layer)) *v1alpha1.Layer {
	l := &v1alpha1.Layer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "web"},
		Spec: v1alpha1.LayerSpec{ClusterSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{"region": "eu"},
		}},
		Status: v1alpha1.LayerStatus{Revision: "web-2"},
	}
	if change != nil {
		change(l)
	}
	return l
}

// site is the member with one layer within its reach.
func site(l v1alpha1.Layered, bindings stack.Bindings) stack.Site {
	return stack.Site{Member: member, Within: []v1alpha1.Layered{l}, Bindings: bindings, Criteria: criteria.NewCache()}
}

func TestOn(t *testing.T) {
	bound := stack.Bindings{
		{Kind: v1alpha1.KindLayer, Name: "web"}: {Status: v1alpha1.LayerBindingStatus{Revision: "web-1"}},
	}
	unreadable := func(l *v1alpha1.Layer) {
		l.Spec.ClusterSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Foo"}}}
	}
	for _, row := range []struct {
		name     string
		layer    *v1alpha1.Layer
		bindings stack.Bindings
		want     string // the revision; empty for a layer that the member does not have
	}{
		{"selected", web(nil), nil, "web-2"},
		{"selected, with another revision on the member", web(nil), bound, "web-2"},
		{"not selected", web(func(l *v1alpha1.Layer) { l.Spec.ClusterSelector.MatchLabels["region"] = "us" }), bound, ""},
		{"without a selector", web(func(l *v1alpha1.Layer) { l.Spec.ClusterSelector = nil }), nil, ""},
		{"of another namespace", web(func(l *v1alpha1.Layer) { l.Namespace = "edge" }), nil, ""},
		{"not rendered yet", web(func(l *v1alpha1.Layer) { l.Status.Revision = "" }), nil, ""},
		{"status lost", web(func(l *v1alpha1.Layer) { l.Status.Revision = "" }), bound, "web-1"},
		{"selector unreadable, the member has the layer", web(unreadable), bound, "web-2"},
		{"selector unreadable, the member does not have it", web(unreadable), nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			placed, err := stack.On(t.Context(), site(row.layer, row.bindings), revisions{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(placed) > 0 {
				got = placed[0].Given
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeletedLayerIsOnNoMember(t *testing.T) {
	now := metav1.Now()
	layer := web(func(l *v1alpha1.Layer) { l.DeletionTimestamp = &now })
	placed, err := stack.On(t.Context(), site(layer, nil), revisions{})
	if err != nil || len(placed) > 0 {
		t.Errorf("placed %v, error %v", placed, err)
	}
}

// An error is not emptiness: a layer that cannot be read is not left out.
func TestUnreadableRevisionIsAnError(t *testing.T) {
	layer := web(func(l *v1alpha1.Layer) { l.Status.Revision = "broken" })
	_, err := stack.On(t.Context(), site(layer, nil), revisions{})
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}

// TestPrecondition: a layer applies where its precondition is true; while that is not known, a
// member keeps what it has and gets nothing new.
func TestPrecondition(t *testing.T) {
	had := func(revision string) stack.Bindings {
		return stack.Bindings{{Kind: v1alpha1.KindLayer, Name: "web"}: {Status: v1alpha1.LayerBindingStatus{Revision: revision}}}
	}
	const gpus = `nodes.exists(n, "nvidia.com/gpu" in n.capacity)`
	with := rollout.MemberFacts{Nodes: []rollout.Node{{Name: "n", Capacity: map[string]string{"nvidia.com/gpu": "2"}}}}
	without := rollout.MemberFacts{Nodes: []rollout.Node{{Name: "n"}}}
	unknown := rollout.MemberFacts{NodesUnknown: "the member cannot be seen"}
	for name, c := range map[string]struct {
		when     string
		facts    rollout.MemberFacts
		bindings stack.Bindings
		given    string
		excluded bool
		barred   bool
	}{
		"true":                             {gpus, with, nil, "web-2", false, false},
		"false":                            {gpus, without, nil, "", true, false},
		"false, and the member has it":     {gpus, without, had("web-2"), "", true, false},
		"unknown":                          {gpus, unknown, nil, "", false, true},
		"unknown, and the member has it":   {gpus, unknown, had("web-2"), "web-2", false, false},
		"unknown, and it has an older one": {gpus, unknown, had("web-1"), "web-1", false, true},
		"cannot be asked":                  {"size(", with, had("web-1"), "web-1", false, true},
		"asks nothing":                     {"", unknown, nil, "web-2", false, false},
	} {
		s := site(web(func(l *v1alpha1.Layer) { l.Spec.When = c.when }), c.bindings)
		s.Facts = func(bool, bool) rollout.MemberFacts { return c.facts }
		placed, err := stack.On(t.Context(), s, revisions{})
		if err != nil || len(placed) != 1 {
			t.Fatalf("%s: placed %v, error %v", name, placed, err)
		}
		p := placed[0]
		if p.Given != c.given || (p.Excluded != "") != c.excluded || (p.Barrier != nil) != c.barred {
			t.Errorf("%s: given %q, excluded %q, barrier %+v", name, p.Given, p.Excluded, p.Barrier)
		}
	}
}

// TestStrict: layers above a Strict one wait until it has converged; those below do not, and
// nothing that was given is taken away.
func TestStrict(t *testing.T) {
	named := func(name string, order int32, consistency v1alpha1.Consistency) *v1alpha1.Layer {
		return web(func(l *v1alpha1.Layer) {
			l.Name, l.Spec.Order, l.Spec.Consistency, l.Status.Revision = name, order, consistency, name+"-2"
		})
	}
	layers := []v1alpha1.Layered{
		named("above", 300, ""), named("platform", 200, v1alpha1.ConsistencyStrict), named("base", 100, ""),
	}
	status := func(revision string, phase v1alpha1.Phase) *v1alpha1.LayerBinding {
		return &v1alpha1.LayerBinding{Status: v1alpha1.LayerBindingStatus{Revision: revision, Phase: phase}}
	}
	ref := func(name string) v1alpha1.LayerReference {
		return v1alpha1.LayerReference{Kind: v1alpha1.KindLayer, Name: name}
	}
	for name, c := range map[string]struct {
		platform, above *v1alpha1.LayerBinding
		want            string // what is given of the layer above
	}{
		"new":                          {nil, nil, ""},
		"on its way":                   {status("platform-2", v1alpha1.PhaseVerifying), status("above-1", v1alpha1.PhaseConverged), "above-1"},
		"on its way, and above has it": {status("platform-2", v1alpha1.PhaseVerifying), status("above-2", v1alpha1.PhaseConverged), "above-2"},
		"an older one has converged":   {status("platform-1", v1alpha1.PhaseConverged), nil, ""},
		"converged":                    {status("platform-2", v1alpha1.PhaseConverged), status("above-1", v1alpha1.PhaseConverged), "above-2"},
	} {
		bindings := stack.Bindings{}
		if c.platform != nil {
			bindings[ref("platform")] = c.platform
		}
		if c.above != nil {
			bindings[ref("above")] = c.above
		}
		s := site(nil, bindings)
		s.Within = layers
		placed, err := stack.On(t.Context(), s, revisions{})
		if err != nil || len(placed) != 3 {
			t.Fatalf("%s: placed %v, error %v", name, placed, err)
		}
		got := []string{placed[0].Given, placed[1].Given, placed[2].Given}
		if diff := cmp.Diff([]string{"base-2", "platform-2", c.want}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
