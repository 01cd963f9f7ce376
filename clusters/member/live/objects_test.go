package live

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/clusters/member"
)

var (
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	widgets     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
)

func settings(namespace, name, value string) *unstructured.Unstructured {
	return manifest("v1", "ConfigMap", namespace, name, map[string]any{"data": map[string]any{"key": value}})
}

func patched(f *fixture, u *unstructured.Unstructured, patch string) {
	f.Helper()
	live := u.DeepCopy()
	if err := f.admin().Patch(f.Context(), live, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		f.Fatal(err)
	}
}

func TestDriftIsSeenAndOthersAdditionsAreNot(t *testing.T) {
	f := connect(t)
	u := settings(f.cluster.Namespace(t), "settings", "ours")
	f.watch(configMaps)
	applied := f.apply(u)
	if applied.Owned == "" || applied.Layer != "base" || applied.UID == "" {
		t.Fatalf("got %+v", applied)
	}

	patched(f, u, `{"metadata":{"labels":{"theirs":"yes"}},"data":{"theirs":"yes"}}`)
	f.within(patience, "seen", func() bool { return f.seen(applied.ID).ResourceVersion != applied.ResourceVersion })
	if f.seen(applied.ID).Owned != applied.Owned {
		t.Error("another manager's addition is drift")
	}

	patched(f, u, `{"data":{"key":"theirs"}}`)
	f.within(patience, "seen as drift", func() bool { return f.seen(applied.ID).Owned != applied.Owned })

	if again := f.apply(u); again.Owned != applied.Owned {
		t.Error("mended, the object has another digest")
	}

	if err := f.admin().Delete(t.Context(), u.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	f.within(patience, "seen as gone", func() bool { _, found := f.member.Seen(applied.ID); return !found })
}

func TestStatusIsNoDrift(t *testing.T) {
	f := connect(t)
	u := deployment(f.cluster.Namespace(t), "web")
	f.watch(deployments)
	applied := f.apply(u)
	f.within(30*time.Second, "rolled out", func() bool {
		live, err := f.member.Get(t.Context(), applied.ID, "v1")
		if err != nil {
			t.Fatal(err)
		}
		available, _, _ := unstructured.NestedInt64(live.Object, "status", "availableReplicas")
		return available == 1 && f.seen(applied.ID).ResourceVersion == live.GetResourceVersion()
	})
	if f.seen(applied.ID).Owned != applied.Owned {
		t.Error("a status that changed is drift")
	}
	if again := f.apply(u); again.ResourceVersion != f.seen(applied.ID).ResourceVersion {
		t.Error("the answer is not what is known")
	}
}

func TestReleaseMeansOneObjectAndTakesOurMarksAlone(t *testing.T) {
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	f.watch(configMaps)
	u := settings(namespace, "settings", "ours")
	labels := u.GetLabels()
	labels["app"] = "web"
	u.SetLabels(labels)
	applied := f.apply(u)

	if err := f.member.Release(t.Context(), applied.ID, "v1", "another"); !errors.Is(err, member.ErrReplaced) {
		t.Errorf("got %v, want ErrReplaced", err)
	}
	if err := f.member.Release(t.Context(), applied.ID, "v1", applied.UID); err != nil {
		t.Fatal(err)
	}
	live, err := f.member.Get(t.Context(), applied.ID, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if labels := live.GetLabels(); len(labels) != 1 || labels["app"] != "web" || len(live.GetAnnotations()) > 0 {
		t.Errorf("labels are %v, annotations %v", labels, live.GetAnnotations())
	}
	f.within(patience, "out of sight", func() bool { return f.seen(applied.ID).UID == "" })
	if value, _, _ := unstructured.NestedString(live.Object, "data", "key"); value != "ours" {
		t.Errorf("the object holds %q", value)
	}
	gone := applied.ID
	gone.Name = "never-made"
	if err := f.member.Release(t.Context(), gone, "v1", applied.UID); err != nil {
		t.Errorf("what is not there is released: %v", err)
	}
}

// However late the watch is (here there is none), an object that we have deleted does not count as
// there.
func TestWhatWasDeletedIsSeenAsDeleting(t *testing.T) {
	f := connect(t)
	applied := f.apply(settings(f.cluster.Namespace(t), "settings", "ours"))
	if f.seen(applied.ID).Deleting {
		t.Fatal("it is seen as deleting before it is deleted")
	}
	if err := f.member.Delete(t.Context(), applied.ID, "v1", applied.UID); err != nil {
		t.Fatal(err)
	}
	if !f.seen(applied.ID).Deleting {
		t.Error("it is seen as it was")
	}
}

func TestDeleteMeansOneObject(t *testing.T) {
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	f.watch(configMaps)
	applied := f.apply(settings(namespace, "settings", "ours"))

	err := f.member.Delete(t.Context(), applied.ID, "v1", "another")
	if !errors.Is(err, member.ErrReplaced) {
		t.Errorf("got %v, want ErrReplaced", err)
	}
	if _, err := f.member.Get(t.Context(), applied.ID, "v1"); err != nil {
		t.Errorf("it was deleted all the same: %v", err)
	}
	if err := f.member.Delete(t.Context(), applied.ID, "v1", applied.UID); err != nil {
		t.Error(err)
	}
	f.within(patience, "seen as gone", func() bool { _, found := f.member.Seen(applied.ID); return !found })
	if err := f.member.Delete(t.Context(), applied.ID, "v1", applied.UID); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	if _, err := f.member.Get(t.Context(), applied.ID, "v1"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// F24: a custom resource is applied and seen as soon as its definition is there.
func TestAKindWhoseDefinitionComesLater(t *testing.T) {
	f := connect(t)
	widget := manifest("example.com/v1", "Widget", f.cluster.Namespace(t), "w", map[string]any{
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	})
	definitions := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	f.watch(definitions, configMaps)
	f.member.Observe(definitions, configMaps, widgets)
	f.within(patience, "reported", func() bool { return f.member.WatchProblem(widgets.GroupKind()) != nil })
	if _, err := f.member.Apply(t.Context(), widget); member.Classify(err).Reason != member.ReasonKindNotServed {
		t.Errorf("got %v", err)
	}
	if f.member.WatchProblem(configMaps.GroupKind()) != nil {
		t.Error("another kind has a problem, too")
	}

	definition := f.apply(definitionOfWidget())
	t.Cleanup(func() {
		if err := f.admin().Delete(context.WithoutCancel(t.Context()), definitionOfWidget()); err != nil {
			t.Error(err)
		}
	})
	var applied member.Applied
	f.within(patience, "applied", func() (ok bool) {
		var err error
		applied, err = f.member.Apply(t.Context(), widget)
		return err == nil
	})
	f.within(patience, "watched", func() bool { return f.member.Synced(widgets.GroupKind()) })
	if f.seen(applied.ID).UID != applied.UID || f.seen(definition.ID).UID == "" {
		t.Error("not seen")
	}
	f.within(patience, "in the schema", func() bool {
		kind, found, err := f.member.Schema(t.Context(), widgets)
		if err != nil || !found {
			return false
		}
		_, err = kind.FromUnstructured(widget.Object)
		return err == nil
	})
}

func TestRefusalsHaveReasons(t *testing.T) {
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	other := deployment(namespace, "other")
	other.SetName("web")
	f.apply(deployment(namespace, "web"))
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		reason string
		class  member.Class
		says   string
	}{
		"unknown field": {
			manifest("v1", "ConfigMap", namespace, "a", map[string]any{"dada": map[string]any{}}),
			member.ReasonInvalid, member.Terminal, "dada",
		},
		"invalid value": {
			manifest("v1", "ConfigMap", namespace, "a", map[string]any{"data": map[string]any{"not a key": ""}}),
			member.ReasonInvalid, member.Terminal, "not a key",
		},
		"wrong type": {
			manifest("v1", "ConfigMap", namespace, "a", map[string]any{"data": "text"}),
			member.ReasonInvalid, member.Terminal, "data",
		},
		"immutable field":   {other, member.ReasonImmutable, member.Terminal, "spec.selector"},
		"missing namespace": {settings("nowhere", "a", ""), member.ReasonNamespaceMissing, member.Transient, "nowhere"},
		"too large": {
			settings(namespace, "a", strings.Repeat("x", 4<<20)),
			member.ReasonTooLarge, member.Terminal, "split",
		},
		"secret": {
			manifest("v1", "Secret", namespace, "a", map[string]any{"stringData": map[string]any{"pin": int64(4711)}}),
			member.ReasonInvalid, member.Terminal, "withheld",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.member.Apply(t.Context(), test.object)
			got := member.Classify(err)
			if got.Reason != test.reason || got.Class != test.class || !strings.Contains(got.Message, test.says) || strings.Contains(err.Error(), "4711") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestATerminatingNamespaceIsWaitedOut(t *testing.T) {
	f := connect(t)
	namespace := &corev1.Namespace{}
	namespace.Name = f.cluster.Namespace(t)
	f.apply(settings(namespace.Name, "settings", "ours"))
	if err := f.admin().Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	_, err := f.member.Apply(t.Context(), settings(namespace.Name, "more", "ours"))
	if got := member.Classify(err); got.Reason != member.ReasonNamespaceTerminating || got.Class != member.Transient {
		t.Errorf("got %+v", got)
	}
}

// deployment runs pods that are labelled with its name.
func deployment(namespace, name string) *unstructured.Unstructured {
	labels := map[string]any{"app": name}
	return manifest("apps/v1", "Deployment", namespace, name, map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:1"}}},
		},
	}})
}

func definitionOfWidget() *unstructured.Unstructured {
	ports := map[string]any{
		"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"port"},
		"items": map[string]any{
			"type": "object", "required": []any{"port"},
			"properties": map[string]any{"port": map[string]any{"type": "integer"}},
		},
	}
	spec := map[string]any{"type": "object", "properties": map[string]any{"ports": ports}}
	root := map[string]any{"type": "object", "properties": map[string]any{"spec": spec}}
	return manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com", map[string]any{
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": root},
			}},
		},
	})
}
