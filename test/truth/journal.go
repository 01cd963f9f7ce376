package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// vandalism is the content that others give an object.
const vandalism = "vandalism"

// journal is what was so on members, and what was said of them on the hub.
type journal struct {
	mu     sync.Mutex
	locked lockedJournal
}

type lockedJournal struct {
	pasts    map[place]past
	homes    map[string]string // the layer of each object, by its name
	newest   uint64            // change on members
	changes  int               // on members, since the phase began
	verdicts []verdict         // since the phase began, as published alone
	sent     map[uint64]uint64 // by version of a binding: what was the newest when it left the manager
	edits    map[edit]string   // contents
	contents map[string]string // by revision
}

// edit is one generation of a layer.
type edit struct {
	layer      string
	generation int64
}

// newJournal expects the objects of layers on members.
func newJournal(members []string, sketches []sketch) *journal {
	j := &journal{locked: lockedJournal{
		pasts: map[place]past{}, homes: map[string]string{}, sent: map[uint64]uint64{},
		edits: map[edit]string{}, contents: map[string]string{},
	}}
	for _, s := range sketches {
		for _, member := range members {
			expected := past{}
			for i := range s.each {
				j.locked.homes[s.object(i)] = s.name
				expected[named("ConfigMap", s.object(i))], expected[named("Widget", s.object(i))] = nil, nil
			}
			j.locked.pasts[place{member, s.name}] = expected
		}
	}
	return j
}

// begin begins a phase: what was said before is not judged.
func (j *journal) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.locked.changes, j.locked.verdicts = 0, nil
}

// changed counts the changes on members since the phase began.
func (j *journal) changed() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.locked.changes
}

// judge judges all verdicts of the phase.
func (j *journal) judge() (verdicts int, lies []lie, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range j.locked.verdicts {
		var known bool
		if v.content, known = j.locked.contents[v.revision]; !known {
			return 0, nil, fmt.Errorf("%s on %s is said to have revision %q, which no layer ever had", v.layer, v.member, v.revision)
		}
		if v.sent, known = j.locked.sent[v.published]; !known {
			return 0, nil, fmt.Errorf("how %s on %s came to version %d has not been seen", v.layer, v.member, v.published)
		}
		if found, isFalse := j.locked.pasts[v.place].judge(v); isFalse {
			lies = append(lies, found)
		}
	}
	return len(j.locked.verdicts), lies, nil
}

// missing says whether an object of a layer is not there on some member.
func (j *journal) missing(layer, name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for where, known := range j.locked.pasts {
		if where.layer == layer && known[name].at(j.locked.newest).content == "" {
			return true
		}
	}
	return false
}

// now is the newest change on members.
func (j *journal) now() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.locked.newest
}

// wrote hears of the answer to a write of a binding's status that left the manager at a moment.
// One that changed nothing has the version of the write that did.
func (j *journal) wrote(binding []byte, left uint64) {
	var answer metav1.PartialObjectMetadata
	if err := json.Unmarshal(binding, &answer); err != nil {
		return // a refusal that is no object publishes nothing
	}
	at, err := strconv.ParseUint(answer.ResourceVersion, 10, 64)
	if err != nil {
		return // so does a Status
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.locked.sent[at]; !known {
		j.locked.sent[at] = left
	}
}

// object hears of an object on a member.
func (j *journal) object(member string, event watch.EventType, u *unstructured.Unstructured) error {
	at, err := strconv.ParseUint(u.GetResourceVersion(), 10, 64)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	layer, expected := j.locked.homes[u.GetName()]
	if !expected {
		return nil
	}
	j.locked.newest = max(j.locked.newest, at)
	j.locked.changes++
	now := version{at: at}
	if event != watch.Deleted {
		now.content, now.well = contentOf(u), u.GetKind() == "ConfigMap" || answered(u)
	}
	histories, name := j.locked.pasts[place{member, layer}], named(u.GetKind(), u.GetName())
	before := histories[name].at(at)
	now.ours = now.content != vandalism && now.content != before.content
	histories[name] = append(histories[name], now)
	return nil
}

func contentOf(u *unstructured.Unstructured) string {
	field := "data"
	if u.GetKind() == "Widget" {
		field = "spec"
	}
	content, _, _ := unstructured.NestedString(u.Object, field, "content")
	return content
}

// answered says whether a widget's controller has seen what it is to be and finds it well.
func answered(u *unstructured.Unstructured) bool {
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	if observed != u.GetGeneration() || len(conditions) != 1 {
		return false
	}
	ready, _ := conditions[0].(object)
	return ready["type"] == "Ready" && ready["status"] == "True"
}

// layer hears of a layer on the hub.
func (j *journal) layer(_ watch.EventType, u *unstructured.Unstructured) error {
	var layer v1alpha1.Layer
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &layer); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.locked.edits[edit{layer.Name, layer.Generation}] = layer.Annotations[annotationContent]
	if layer.Status.Revision != "" {
		j.locked.contents[layer.Status.Revision] = j.locked.edits[edit{layer.Name, layer.Status.ObservedGeneration}]
	}
	return nil
}

// binding hears of a binding on the hub.
func (j *journal) binding(event watch.EventType, u *unstructured.Unstructured) error {
	var binding v1alpha1.LayerBinding
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &binding); err != nil {
		return err
	}
	if event == watch.Deleted || !meta.IsStatusConditionTrue(binding.Status.Conditions, v1alpha1.ConditionConverged) {
		return nil
	}
	at, err := strconv.ParseUint(binding.ResourceVersion, 10, 64)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	where := place{binding.Spec.Member, binding.Spec.Layer.Name}
	if j.locked.pasts[where] == nil {
		return nil // the base layer
	}
	j.locked.verdicts = append(j.locked.verdicts, verdict{
		place: where, revision: binding.Status.Revision, published: at,
	})
	return nil
}
