package assertion

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
)

// errCrash is what a write of the assertion's status meets that the leader did not live to see.
var errCrash = errors.New("the leader is no more")

// kept are the revisions of every layer, the newest first.
type kept []string

func (k kept) History(context.Context, v1alpha1.Layered) ([]string, error) { return k, nil }

// scene is a hub with one assertion, on one member, and the layer "web", which others hold.
type scene struct {
	*testing.T
	client.Client
	reconciler *Reconciler
	clock      *clocktesting.FakePassiveClock
	events     *events.FakeRecorder
	crashes    bool
}

func newScene(t *testing.T, action v1alpha1.AssertionAction) *scene {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &scene{
		T: t, clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)),
		events: events.NewFakeRecorder(16),
	}
	here := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "fleet", Name: name, UID: "uid-of-it", Generation: 1}
	}
	layer := &v1alpha1.Layer{ObjectMeta: here("web")}
	layer.Status.Revision, layer.Status.HeldBy = "r2", []string{"others"}
	web := v1alpha1.LayerReference{Kind: v1alpha1.KindLayer, Name: "web"}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&v1alpha1.StateAssertion{}, &v1alpha1.Layer{}, &v1alpha1.MemberCluster{}).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: s.write}).
		WithObjects(layer, &v1alpha1.MemberCluster{ObjectMeta: here("eu")}, &v1alpha1.StateAssertion{
			ObjectMeta: here("it"),
			Spec: v1alpha1.StateAssertionSpec{
				Values:     []v1alpha1.ObservedValue{{Name: "good", Expression: "true", Observe: v1alpha1.ObservedObjects{Kind: "ConfigMap"}}},
				Expression: "members.all(m, members[m].values.good)",
				Fallback:   v1alpha1.AssertionFallback{Action: action, Layers: []v1alpha1.LayerReference{web}},
			},
		}).Build()
	s.reconciler = &Reconciler{
		Client: s.Client, Revisions: kept{"r2", "r1"}, States: assertion.NewCache(8), Events: s.events, Clock: s.clock,
	}
	return s
}

// write refuses to write the assertion's status where the leader crashes.
func (s *scene) write(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if _, is := o.(*v1alpha1.StateAssertion); is && s.crashes {
		return errCrash
	}
	return c.SubResource(sub).Patch(ctx, o, patch, options...)
}

// after lets time pass, at the end of which the member is good or not, and judges.
func (s *scene) after(d time.Duration, good bool) {
	s.Helper()
	s.clock.SetTime(s.clock.Now().Add(d))
	member := &v1alpha1.MemberCluster{}
	s.get("eu", member)
	value := "false"
	if good {
		value = "true"
	}
	member.Status = v1alpha1.MemberClusterStatus{
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReachable, Status: metav1.ConditionTrue}},
		Observations: []v1alpha1.MemberObservation{{
			Assertion: "it", UID: "uid-of-it", Generation: s.assertion().Generation, At: metav1.NewTime(s.clock.Now()),
			Values: []v1alpha1.ValueObservation{{Name: "good", Value: &apiextensionsv1.JSON{Raw: []byte(value)}}},
		}},
	}
	s.must(s.Status().Update(s.Context(), member))
	s.judge()
}

func (s *scene) judge() {
	s.Helper()
	key := client.ObjectKey{Namespace: "fleet", Name: "it"}
	if _, err := s.reconciler.Reconcile(s.Context(), reconcile.Request{NamespacedName: key}); s.crashes != errors.Is(err, errCrash) {
		s.Fatal(err)
	}
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) get(name string, o client.Object) {
	s.Helper()
	s.must(s.Get(s.Context(), client.ObjectKey{Namespace: "fleet", Name: name}, o))
}

func (s *scene) layer() *v1alpha1.Layer {
	s.Helper()
	layer := &v1alpha1.Layer{}
	s.get("web", layer)
	return layer
}

func (s *scene) assertion() *v1alpha1.StateAssertion {
	s.Helper()
	a := &v1alpha1.StateAssertion{}
	s.get("it", a)
	return a
}

// edit changes the assertion as a person would.
func (s *scene) edit(how func(*v1alpha1.StateAssertionSpec)) {
	s.Helper()
	a := s.assertion()
	how(&a.Spec)
	a.Generation++
	s.must(s.Update(s.Context(), a))
}

// isHeld checks whether the layer is held by the assertion. Others hold it in any case.
func (s *scene) isHeld(held bool) {
	s.Helper()
	want := []string{"others"}
	if held {
		want = append(want, "StateAssertion fleet/it")
	}
	if got := s.layer().Status.HeldBy; !slices.Equal(got, want) {
		s.Fatalf("the layer is held by %v; want %v", got, want)
	}
}

func (s *scene) told() (all []string) {
	for {
		select {
		case event := <-s.events.Events:
			all = append(all, event)
		default:
			return all
		}
	}
}

func TestLayerIsHeldUntilTheAssertionHolds(t *testing.T) {
	s := newScene(t, v1alpha1.AssertionHold)
	s.after(0, false)
	s.isHeld(false)
	s.after(2*time.Minute, false)
	s.isHeld(true)
	s.after(time.Minute, false)
	s.isHeld(true)
	if told := s.told(); len(told) != 1 {
		t.Errorf("people are told %q; want one event", told)
	}
	s.after(time.Second, true)
	s.isHeld(false)
	if told := s.told(); len(told) != 1 {
		t.Errorf("people are told %q; want one event", told)
	}
}

func TestWhatEndsAHold(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*scene)
		held bool
	}{
		"a deleted assertion":    {func(s *scene) { s.must(s.Delete(s.Context(), s.assertion())) }, false},
		"another layer is named": {func(s *scene) { s.edit(func(a *v1alpha1.StateAssertionSpec) { a.Fallback.Layers[0].Name = "app" }) }, false},
		"another action": {func(s *scene) {
			s.edit(func(a *v1alpha1.StateAssertionSpec) { a.Fallback.Action = v1alpha1.AssertionReport })
		}, false},
		"an assertion that cannot be read does not": {
			func(s *scene) { s.edit(func(a *v1alpha1.StateAssertionSpec) { a.Expression = "members.all(" }) }, true,
		},
		"one that selects nobody does not": {
			func(s *scene) {
				s.edit(func(a *v1alpha1.StateAssertionSpec) {
					a.ClusterSelector.MatchLabels = map[string]string{"region": "moon"}
				})
			}, true,
		},
		"an observation that is too old does not": {func(s *scene) { s.clock.SetTime(s.clock.Now().Add(time.Hour)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, v1alpha1.AssertionHold)
			s.after(0, false)
			s.after(2*time.Minute, false)
			s.isHeld(true)
			c.then(s)
			s.judge()
			s.isHeld(c.held)
		})
	}
}

// TestRollbackIsDoneOnceAcrossCrashes: a leader that ends between rolling back and remembering
// that leaves its successor something to remember, and nothing to do. What people choose later
// stays.
func TestRollbackIsDoneOnceAcrossCrashes(t *testing.T) {
	s := newScene(t, v1alpha1.AssertionRollback)
	s.after(0, false)
	s.crashes = true
	s.after(2*time.Minute, false)
	done := s.layer()
	if back := done.Status.RolledBack; back == nil || back.Revision != "r1" || back.From != "r2" || back.By != "StateAssertion fleet/it" {
		t.Fatalf("rolled back to %+v", back)
	}
	s.crashes = false
	s.after(time.Second, false)
	if now := s.layer(); now.ResourceVersion != done.ResourceVersion {
		t.Errorf("the layer is written again: %+v", now.Status)
	}
	if got := s.assertion().Status.RolledBack; !slices.Equal(got, []string{"r2"}) {
		t.Errorf("remembers %v", got)
	}

	chosen := s.layer()
	chosen.Status.RolledBack = nil
	s.must(s.Status().Update(t.Context(), chosen))
	s.after(time.Second, true)
	s.after(time.Second, false)
	s.after(time.Hour, false)
	if back := s.layer().Status.RolledBack; back != nil {
		t.Errorf("rolled back again: %+v", back)
	}
}

// TestRollbackThatHelpedBeforeItWasRemembered: the assertion holds when the successor looks.
func TestRollbackThatHelpedBeforeItWasRemembered(t *testing.T) {
	s := newScene(t, v1alpha1.AssertionRollback)
	s.after(0, false)
	s.crashes = true
	s.after(2*time.Minute, false)
	s.crashes = false
	s.after(time.Second, true)

	chosen := s.layer()
	chosen.Status.RolledBack = nil
	s.must(s.Status().Update(t.Context(), chosen))
	s.after(time.Second, false)
	s.after(time.Hour, false)
	if back := s.layer().Status.RolledBack; back != nil {
		t.Errorf("rolled back again: %+v", back)
	}
}

func TestRollbackWaitsForAnAnswer(t *testing.T) {
	s := newScene(t, v1alpha1.AssertionRollback)
	s.after(0, false)
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	s.judge()
	if back := s.layer().Status.RolledBack; back != nil {
		t.Errorf("rolled back, and nothing is known: %+v", back)
	}
}
