package main

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// One layer of one ConfigMap and one widget, from the edit to the verdict.
func TestJournalJudgesWhatItHears(t *testing.T) {
	for name, test := range map[string]struct {
		observed int64 // generation of the widget's status, whose generation is 2
		lies     int
	}{
		"seen by its controller": {2, 0},
		"not seen":               {1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			j := rehearsal(t, test.observed)
			j.wrote([]byte(`{"metadata":{"resourceVersion":"30"}}`), 20)
			verdicts, lies, err := j.judge()
			if err != nil || verdicts != 1 || len(lies) != test.lies {
				t.Errorf("%d verdicts, false %v, error %v", verdicts, lies, err)
			}
		})
	}
}

func TestJournalMissesHowAVerdictCame(t *testing.T) {
	j := rehearsal(t, 2)
	j.wrote([]byte(`{"metadata":{"resourceVersion":"31"}}`), 20)
	if _, _, err := j.judge(); err == nil {
		t.Error("judges a verdict of which it does not know when it left the manager")
	}
}

func rehearsal(t *testing.T, observed int64) *journal {
	t.Helper()
	one := sketch{name: "one", each: 1}
	j := newJournal([]string{"east"}, []sketch{one})
	layer := one.layer("new")
	layer.SetGeneration(1)
	layer.Object["status"] = object{"revision": "one-1", "observedGeneration": int64(1)}
	widget := made("Widget", 20, object{"spec": object{"content": "new"}, "status": object{
		"observedGeneration": observed, "conditions": []any{object{"type": "Ready", "status": "True"}},
	}})
	widget.SetGeneration(2)
	binding := &v1alpha1.LayerBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "east-one", ResourceVersion: "30"},
		Spec:       v1alpha1.LayerBindingSpec{Member: "east", Layer: v1alpha1.LayerReference{Kind: v1alpha1.KindLayer, Name: one.name}},
		Status: v1alpha1.LayerBindingStatus{
			Revision:   "one-1",
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionConverged, Status: metav1.ConditionTrue}},
		},
	}
	said, err := runtime.DefaultUnstructuredConverter.ToUnstructured(binding)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		j.layer(watch.Modified, layer),
		j.object("east", watch.Added, made("ConfigMap", 10, object{"data": object{"content": "new"}})),
		j.object("east", watch.Added, made("Widget", 11, object{"spec": object{"content": "new"}})),
		j.object("east", watch.Modified, widget),
		j.binding(watch.Modified, &unstructured.Unstructured{Object: said}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// made is an object of the layer one at a resourceVersion.
func made(kind string, version int, fields object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: fields}
	u.SetKind(kind)
	u.SetName("one-0")
	u.SetResourceVersion(strconv.Itoa(version))
	return u
}
