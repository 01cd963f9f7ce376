package stack_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/criteria"
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
