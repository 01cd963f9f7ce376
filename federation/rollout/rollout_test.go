package rollout

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestSelects(t *testing.T) {
	member := &v1alpha1.MemberCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "eu-1", Namespace: "fleet", Labels: map[string]string{"region": "eu"},
	}}
	eu := &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}
	us := &metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}}
	broken := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	layer := func(namespace string, s *metav1.LabelSelector) v1alpha1.Layered {
		return &v1alpha1.Layer{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Spec: v1alpha1.LayerSpec{ClusterSelector: s}}
	}
	clusterLayer := func(s *metav1.LabelSelector) v1alpha1.Layered {
		return &v1alpha1.ClusterLayer{Spec: v1alpha1.LayerSpec{ClusterSelector: s}}
	}
	for name, c := range map[string]struct {
		layer v1alpha1.Layered
		want  bool
		err   bool
	}{
		"own namespace":              {layer("fleet", eu), true, false},
		"other labels":               {layer("fleet", us), false, false},
		"other namespace":            {layer("other", eu), false, false},
		"empty selects all in reach": {layer("fleet", &metav1.LabelSelector{}), true, false},
		"empty does not reach out":   {layer("other", &metav1.LabelSelector{}), false, false},
		"none selects none":          {layer("fleet", nil), false, false},
		"ClusterLayer":               {clusterLayer(eu), true, false},
		"ClusterLayer, all":          {clusterLayer(&metav1.LabelSelector{}), true, false},
		"ClusterLayer, none":         {clusterLayer(nil), false, false},
		"an error is not an answer":  {clusterLayer(broken), false, true},
	} {
		got, err := Selects(c.layer, member)
		if got != c.want || (err != nil) != c.err {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestWanted(t *testing.T) {
	l := &v1alpha1.Layer{Status: v1alpha1.LayerStatus{Revision: "web-1"}}
	if got := Wanted(l, &v1alpha1.MemberCluster{}); got != "web-1" {
		t.Error(got)
	}
}
