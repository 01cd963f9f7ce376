package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestTable(t *testing.T) {
	eu := map[string]string{"region": "eu"}
	members := []*v1alpha1.MemberCluster{member("us-1", nil), member("eu-2", eu), member("eu-1", eu), unreachable("zz")}
	base := &v1alpha1.ClusterLayer{
		ObjectMeta: metav1.ObjectMeta{Name: "base"},
		Spec:       v1alpha1.LayerSpec{Enforce: true, ClusterSelector: &metav1.LabelSelector{}},
		Status:     v1alpha1.LayerStatus{Revision: "base-1"},
	}
	region := &v1alpha1.Layer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "region-eu"},
		Spec:       v1alpha1.LayerSpec{Order: 400, ClusterSelector: &metav1.LabelSelector{MatchLabels: eu}},
		Status:     v1alpha1.LayerStatus{Revision: "region-eu-1"},
	}
	web := webLayer()
	web.Spec.ClusterSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "nobody", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	members[3].Labels = map[string]string{"nobody": "x"}
	bindings := []v1alpha1.LayerBinding{
		binding(base, "eu-1", v1alpha1.StateConverged, 4, 4, ""),
		binding(base, "eu-2", v1alpha1.StateConverged, 4, 4, ""),
		binding(base, "us-1", v1alpha1.StatePaused, 3, 4, "writing is paused"),
		binding(web, "eu-1", v1alpha1.StateConverged, 5, 5, ""),
		binding(web, "eu-2", v1alpha1.StateDegraded, 4, 5, "Job shop/migrate: Job Failed. failed: 1/1"),
		binding(web, "us-1", v1alpha1.StateProgressing, 4, 5, "Deployment shop/web: 2 of 3 replicas updated"),
		binding(region, "eu-1", v1alpha1.StateConverged, 1, 1, ""),
		binding(region, "eu-2", v1alpha1.StateProgressing, 0, 1, "ConfigMap shop/a: is to be applied"),
	}
	want := `            eu-1   eu-2    us-1    zz
region-eu   ● 1    ◐ 0/1   ·       ·    eu-2: ConfigMap shop/a: is to be applied (40s)
web         ● 5    ✕ 4/5   ◐ 4/5   ·    eu-2: Job shop/migrate: Job Failed. failed: 1/1 (40s)
base        ● 4    ● 4     ‖ 3/4   ?    enforced; us-1: writing is paused (40s)
`
	for _, layers := range [][]v1alpha1.Layered{{base, region, web}, {web, base, region}} {
		table, err := NewTable(layers, members, bindings, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, table.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestTableNames: namespaces are shown where names alone would be misread.
func TestTableNames(t *testing.T) {
	other := member("eu-1", nil)
	other.Namespace = "lab"
	layers := []v1alpha1.Layered{webLayer(), &v1alpha1.ClusterLayer{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}
	table, err := NewTable(layers, []*v1alpha1.MemberCluster{other, member("eu-1", nil), member("us-1", nil)}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"fleet/eu-1", "lab/eu-1", "us-1"}, shortNames(table.Members)); diff != "" {
		t.Error(diff)
	}
	if table.Rows[0].Layer != "fleet/web" || table.Rows[1].Layer != "web" {
		t.Errorf("%v", table.Rows)
	}
}

// TestTableSelector: a selector that cannot be read is an error, not an empty row.
func TestTableSelector(t *testing.T) {
	l := webLayer()
	l.Spec.ClusterSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	if table, err := NewTable([]v1alpha1.Layered{l}, []*v1alpha1.MemberCluster{member("eu-1", nil)}, nil, now); err == nil {
		t.Errorf("no error, but\n%s", table)
	}
}

func TestScalar(t *testing.T) {
	for want, value := range map[string]any{
		"web:2.1":          "web:2.1",
		`"1"`:              "1",
		`"true"`:           "true",
		`"a\nb"`:           "a\nb",
		"1":                int64(1),
		"(removed)":        "(removed)",
		`["a",1]`:          []any{"a", int64(1)},
		`{}`:               map[string]any{},
		"null":             nil,
		`""`:               "",
		"9007199254740993": int64(9007199254740993),
	} {
		if got := scalar(value); got != want {
			t.Errorf("%#v is %s, want %s", value, got, want)
		}
	}
}
