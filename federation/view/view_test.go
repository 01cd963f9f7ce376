package view

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
)

var (
	now  = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 45, 0, time.UTC))
	then = metav1.NewTime(now.Add(-40 * time.Second))
)

func condition(kind string, status metav1.ConditionStatus, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: "Because", Message: message, LastTransitionTime: then}
}

func member(name string, labels map[string]string) *v1alpha1.MemberCluster {
	return &v1alpha1.MemberCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name, Labels: labels},
		Status: v1alpha1.MemberClusterStatus{Conditions: []metav1.Condition{
			condition(v1alpha1.ConditionReady, metav1.ConditionTrue, ""),
			condition(v1alpha1.ConditionReachable, metav1.ConditionTrue, ""),
		}},
	}
}

func unreachable(name string) *v1alpha1.MemberCluster {
	m := member(name, nil)
	m.Status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, "does not answer"),
		condition(v1alpha1.ConditionReachable, metav1.ConditionFalse, "last seen at noon"),
	}
	return m
}

// ownerless is a member that could be reached, and that no replica owns.
func ownerless(name string) *v1alpha1.MemberCluster {
	m := member(name, nil)
	m.Status.Conditions = append(m.Status.Conditions, condition(v1alpha1.ConditionOwnerless, metav1.ConditionTrue, "nobody keeps it"))
	return m
}

// webLayer is a layer in its second generation, which is revision web-2.
func webLayer() *v1alpha1.Layer {
	return &v1alpha1.Layer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "web", Generation: 2},
		Spec:       v1alpha1.LayerSpec{Order: 300, ClusterSelector: &metav1.LabelSelector{}},
		Status:     v1alpha1.LayerStatus{ObservedGeneration: 2, Revision: "web-2"},
	}
}

func binding(l v1alpha1.Layered, member string, state v1alpha1.State, healthy, objects int32, message string) v1alpha1.LayerBinding {
	return v1alpha1.LayerBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: l.GetName() + "-" + member},
		Spec: v1alpha1.LayerBindingSpec{
			Layer: v1alpha1.LayerReference{Kind: l.LayerKind(), Name: l.GetName()}, Member: member,
		},
		Status: v1alpha1.LayerBindingStatus{
			Revision: l.LayerStatus().Revision, LayerGeneration: l.GetGeneration(),
			State: state, Since: &then, Healthy: healthy, Objects: objects, Message: message,
		},
	}
}

// TestStanding: how far a binding is believed.
func TestStanding(t *testing.T) {
	green := func(change func(*v1alpha1.LayerBinding)) *v1alpha1.LayerBinding {
		b := binding(webLayer(), "eu-1", v1alpha1.StateConverged, 5, 5, "")
		if change != nil {
			change(&b)
		}
		return &b
	}
	unrendered := webLayer()
	unrendered.Status.Revision = ""
	for name, c := range map[string]struct {
		layer   *v1alpha1.Layer
		member  *v1alpha1.MemberCluster
		binding *v1alpha1.LayerBinding
		want    string
	}{
		"believed":           {webLayer(), member("eu-1", nil), green(nil), "Converged "},
		"no binding":         {webLayer(), member("eu-1", nil), nil, "Progressing waits for its first verdict"},
		"no verdict":         {webLayer(), member("eu-1", nil), green(func(b *v1alpha1.LayerBinding) { b.Status.State = "" }), "Progressing waits for its first verdict"},
		"older revision":     {webLayer(), member("eu-1", nil), green(func(b *v1alpha1.LayerBinding) { b.Status.Revision = "web-1" }), "Progressing waits for revision web-2"},
		"older generation":   {webLayer(), member("eu-1", nil), green(func(b *v1alpha1.LayerBinding) { b.Status.LayerGeneration = 1 }), "Progressing waits for a verdict on the layer's newest generation"},
		"not rendered":       {unrendered, member("eu-1", nil), green(nil), "Progressing waits for the layer's first revision"},
		"out of sight":       {webLayer(), unreachable("eu-1"), green(nil), "Unknown last seen at noon"},
		"ownerless":          {webLayer(), ownerless("eu-1"), green(nil), "Unknown nobody keeps it"},
		"unseen, no binding": {webLayer(), unreachable("eu-1"), nil, "Unknown last seen at noon"},
		"unknown and old": {webLayer(), member("eu-1", nil), green(func(b *v1alpha1.LayerBinding) {
			b.Status.Revision, b.Status.State, b.Status.Message = "web-1", v1alpha1.StateUnknown, "was last seen at noon"
		}), "Unknown was last seen at noon"},
		"does not apply": {webLayer(), member("eu-1", nil), green(func(b *v1alpha1.LayerBinding) {
			b.Status.Revision, b.Status.Message = "", "it has no GPU"
			b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionConverged, Reason: convergence.ReasonNotApplicable}}
		}), "Converged it has no GPU"},
		"new member": {webLayer(), &v1alpha1.MemberCluster{}, nil, "Progressing waits for its first verdict"},
	} {
		s := standingOf(c.layer, c.member, c.binding)
		if got := fmt.Sprintf("%s %s", s.state, s.message); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestLayer(t *testing.T) {
	l := webLayer()
	l.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionRendered, metav1.ConditionTrue, "")}
	members := []*v1alpha1.MemberCluster{member("eu-1", nil), member("eu-2", nil), member("us-1", nil)}
	bindings := []v1alpha1.LayerBinding{
		binding(l, "eu-1", v1alpha1.StateConverged, 5, 5, ""),
		binding(l, "eu-2", v1alpha1.StateConverged, 5, 5, ""),
		binding(l, "us-1", v1alpha1.StateProgressing, 4, 5, "Deployment shop/web: 2 of 3 replicas updated"),
		binding(&v1alpha1.ClusterLayer{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, "eu-1", v1alpha1.StateDegraded, 0, 1, "another layer's"),
	}
	status := Layer(l, members, bindings, now)
	want := v1alpha1.LayerStatus{
		ObservedGeneration: 2, Revision: "web-2", State: v1alpha1.StateProgressing, Since: &now,
		Converged: "2/3", Members: v1alpha1.MemberCounts{Total: 3, Converged: 2, Progressing: 1},
		Message: "fleet/us-1: Deployment shop/web: 2 of 3 replicas updated",
		Worst: []v1alpha1.MemberReport{
			{Member: "fleet/us-1", State: v1alpha1.StateProgressing, Message: "Deployment shop/web: 2 of 3 replicas updated"},
		},
	}
	conditions := status.Conditions
	status.Conditions = nil
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
	var kinds []string
	for _, c := range conditions {
		kinds = append(kinds, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	if diff := cmp.Diff([]string{"Rendered=True", "Converged=False", "Reconciling=True"}, kinds); diff != "" {
		t.Error(diff)
	}

	l.Status = Layer(l, members, bindings, now)
	if again := Layer(l, members, bindings, metav1.NewTime(now.Add(time.Hour))); !reflect.DeepEqual(again, l.Status) {
		t.Errorf("nothing has happened, and the status changes: %s", cmp.Diff(l.Status, again))
	}
}

// TestLayerAsAWhole: what a layer says whatever its members say.
func TestLayerAsAWhole(t *testing.T) {
	one := []*v1alpha1.MemberCluster{member("eu-1", nil)}
	for name, c := range map[string]struct {
		change  func(*v1alpha1.Layer)
		members []*v1alpha1.MemberCluster
		want    string
	}{
		"converged":     {func(*v1alpha1.Layer) {}, one, "Converged 1/1: "},
		"selects none":  {func(l *v1alpha1.Layer) { l.Name = "nowhere" }, nil, "Converged 0/0: the layer selects no member"},
		"still leaving": {func(*v1alpha1.Layer) {}, nil, "Progressing 0/0: fleet/eu-1: is leaving the member"},
		"not read yet":  {func(l *v1alpha1.Layer) { l.Generation = 3 }, one, "Progressing 0/1: the layer's content is being read"},
		"cannot be read": {func(l *v1alpha1.Layer) {
			l.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionRendered, metav1.ConditionFalse, "ConfigMap web is missing: create it")}
		}, one, "Degraded 1/1: ConfigMap web is missing: create it"},
	} {
		l := webLayer()
		bindings := []v1alpha1.LayerBinding{binding(l, "eu-1", v1alpha1.StateConverged, 1, 1, "")}
		c.change(l)
		s := Layer(l, c.members, bindings, now)
		if got := fmt.Sprintf("%s %s: %s", s.State, s.Converged, s.Message); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAggregationIsBoundedAndOrderless sums up many members in many orders.
func TestAggregationIsBoundedAndOrderless(t *testing.T) {
	l := webLayer()
	var members []*v1alpha1.MemberCluster
	var bindings []v1alpha1.LayerBinding
	states := []v1alpha1.State{v1alpha1.StateConverged, v1alpha1.StateProgressing, v1alpha1.StateDegraded, v1alpha1.StatePaused, v1alpha1.StateUnknown}
	for i := range 500 {
		name := fmt.Sprintf("m-%03d", i)
		m := member(name, nil)
		if i%7 == 0 {
			m = unreachable(name)
		}
		members = append(members, m)
		b := binding(l, name, states[i%len(states)], 1, 2, strings.Repeat("x", 2000))
		b.Status.Drift = 1
		bindings = append(bindings, b)
	}
	f := &v1alpha1.Federation{}
	layers := []v1alpha1.Layered{l, &v1alpha1.ClusterLayer{ObjectMeta: metav1.ObjectMeta{Name: "base"}}}
	want := Layer(l, members, bindings, now)
	l.Status = want
	wantAll := Federation(f, layers, members, bindings, now)
	if len(want.Worst) != maxWorst || len(want.Message) > maxMessage || len(want.Worst[0].Message) > maxReport || len(wantAll.Unready) != maxUnready {
		t.Errorf("not bounded: %d worst, message of %d, %d unready", len(want.Worst), len(want.Message), len(wantAll.Unready))
	}
	c := want.Members
	if c.Total != 500 || c.Converged+c.Progressing+c.Degraded+c.Paused+c.Unknown != 500 {
		t.Errorf("counts do not add up: %+v", c)
	}
	if wantAll.Drift != 500 {
		t.Errorf("drift is %d", wantAll.Drift)
	}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(members), reflect.Swapper(members))
		r.Shuffle(len(bindings), reflect.Swapper(bindings))
		r.Shuffle(len(layers), reflect.Swapper(layers))
		if got := Layer(l, members, bindings, now); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
		}
		if got := Federation(f, layers, members, bindings, now); !reflect.DeepEqual(got, wantAll) {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(wantAll, got))
		}
	}
}

func TestFederation(t *testing.T) {
	done := func(l v1alpha1.Layered, order int32, total int32) v1alpha1.Layered {
		l.LayerSpec().Order = order
		*l.LayerStatus() = v1alpha1.LayerStatus{
			State: v1alpha1.StateConverged, Converged: fmt.Sprintf("%d/%d", total, total),
			Members: v1alpha1.MemberCounts{Total: total, Converged: total},
		}
		return l
	}
	base := done(&v1alpha1.ClusterLayer{ObjectMeta: metav1.ObjectMeta{Name: "base"}}, 0, 3)
	base.LayerSpec().Enforce = true
	web := done(&v1alpha1.Layer{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "web"}}, 300, 3)
	web.LayerStatus().State, web.LayerStatus().Message = v1alpha1.StateProgressing, "fleet/us-1: Deployment shop/web: 2 of 3 replicas updated"
	web.LayerStatus().Converged, web.LayerStatus().Members.Converged = "2/3", 2

	f := &v1alpha1.Federation{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
	members := []*v1alpha1.MemberCluster{member("eu-1", nil), unreachable("us-1"), {ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "new"}}}
	status := Federation(f, []v1alpha1.Layered{web, base}, members, nil, now)
	conditions := status.Conditions
	status.Conditions = nil
	want := v1alpha1.FederationStatus{
		ObservedGeneration: 4, Members: 3, Ready: "1/3", Layers: 2, Converged: "5/6", State: v1alpha1.StateProgressing,
		Message: "layer fleet/web: fleet/us-1: Deployment shop/web: 2 of 3 replicas updated",
		Stack: []v1alpha1.LayerReport{
			{Layer: "base", Enforced: true, State: v1alpha1.StateConverged, Converged: "3/3"},
			{Layer: "fleet/web", Order: 300, State: v1alpha1.StateProgressing, Converged: "2/3"},
		},
		Unready: []v1alpha1.MemberReport{
			{Member: "fleet/new", State: v1alpha1.StateUnknown, Message: "has not been registered yet"},
			{Member: "fleet/us-1", State: v1alpha1.StateUnknown, Message: "does not answer"},
		},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
	if len(conditions) != 2 || conditions[0].ObservedGeneration != 4 {
		t.Errorf("%+v", conditions)
	}
	f.Spec.Paused = true
	if m := Federation(f, []v1alpha1.Layered{base}, members, nil, now).Message; m != "writing is paused for all members" {
		t.Error(m)
	}
}

// TestStackKeepsTheWorst: of too many layers, the worst are kept, in the stack's order.
func TestStackKeepsTheWorst(t *testing.T) {
	var layers []v1alpha1.Layered
	for i := range 150 {
		l := &v1alpha1.ClusterLayer{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("l-%03d", i)}}
		l.Spec.Order = int32(i)
		l.Status.State = v1alpha1.StateConverged
		if i >= 120 {
			l.Status.State = v1alpha1.StateDegraded
		}
		layers = append(layers, l)
	}
	reports := stack(layers)
	if len(reports) != maxStack || reports[0].Layer != "l-000" || reports[maxStack-1].Layer != "l-149" || reports[69].Layer != "l-069" || reports[70].Layer != "l-120" {
		t.Errorf("%v", reports)
	}
}

func TestLayerBeingDeletedSaysWhereItIs(t *testing.T) {
	l := webLayer()
	l.SetDeletionTimestamp(&now)
	left := []v1alpha1.LayerBinding{
		binding(l, "us-1", v1alpha1.StateUnknown, 0, 0, "the member was last seen at noon"),
		binding(l, "eu-1", v1alpha1.StateProgressing, 0, 1, "Deployment shop/web: is to be deleted"),
	}
	status := Layer(l, nil, left, now)
	want := "the layer is being deleted, and is still on fleet/eu-1 and 1 more: Deployment shop/web: is to be deleted"
	if status.State != v1alpha1.StateProgressing || status.Message != want {
		t.Errorf("%s: %s", status.State, status.Message)
	}
}
