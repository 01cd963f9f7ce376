package revision_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

var errAway = errors.New("the hub does not answer")

// stored is what a hub holds, by kind, namespace and name.
type stored map[string]map[string][]byte

func (s stored) read(_ context.Context, kind string, key types.NamespacedName) (map[string][]byte, error) {
	if key.Name == "away" {
		return nil, errAway
	}
	data, ok := s[kind+" "+key.String()]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
	}
	return data, nil
}

func fromConfigMap(name string) v1alpha1.ManifestsSource {
	return v1alpha1.ManifestsSource{ConfigMap: &v1alpha1.ManifestsReference{Name: name}}
}

func layerOf(spec v1alpha1.LayerSpec) *v1alpha1.Layer {
	return &v1alpha1.Layer{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "web"}, Spec: spec}
}

func TestGatherReadsPublicAndSecretPartsApart(t *testing.T) {
	hub := stored{
		"ConfigMap fleet/web": {"b.yaml": []byte("kind: B"), "a.yaml": []byte("kind: A\n---\nkind: AA")},
		"Secret fleet/keys":   {"s.yaml": []byte("kind: S")},
		"ConfigMap sys/web":   {"c.yaml": []byte("kind: C")},
	}
	spec := v1alpha1.LayerSpec{
		Manifests: []runtime.RawExtension{{Raw: []byte(`{"kind":"Inline"}`)}},
		ManifestsFrom: []v1alpha1.ManifestsSource{
			fromConfigMap("web"), {Secret: &v1alpha1.ManifestsReference{Name: "keys"}},
		},
	}
	content, err := revision.Gather(t.Context(), layerOf(spec), "sys", hub.read)
	if err != nil {
		t.Fatal(err)
	}
	var public []string
	for _, m := range content.Public.Manifests {
		public = append(public, string(m))
	}
	if diff := cmp.Diff([]string{`{"kind":"Inline"}`, `{"kind":"A"}`, `{"kind":"AA"}`, `{"kind":"B"}`}, public); diff != "" {
		t.Errorf("public part: %s", diff)
	}
	if len(content.Secret) != 1 || string(content.Secret[0]) != `{"kind":"S"}` {
		t.Errorf("secret part: %s", content.Secret)
	}
	base := &v1alpha1.ClusterLayer{Spec: v1alpha1.LayerSpec{ManifestsFrom: []v1alpha1.ManifestsSource{fromConfigMap("web")}}}
	content, err = revision.Gather(t.Context(), base, "sys", hub.read)
	if err != nil || string(content.Public.Manifests[0]) != `{"kind":"C"}` {
		t.Errorf("a ClusterLayer reads the system namespace: %s, %v", content.Public.Manifests, err)
	}
}

func TestGatherSaysWhatAPersonMustMend(t *testing.T) {
	hub := stored{"ConfigMap fleet/empty": {}, "ConfigMap fleet/broken": {"a.yaml": []byte("a: b: c")}}
	for _, row := range []struct {
		name, reason, message string
		from                  []v1alpha1.ManifestsSource
	}{
		{
			"nothing at all", "Empty",
			"Layer fleet/web holds no manifests and no patches; members keep what they have. Delete the layer to remove its objects, or set sync.allowEmpty", nil,
		},
		{
			"missing", revision.ReasonSourceNotFound,
			"ConfigMap fleet/none, which spec.manifestsFrom[0] of Layer fleet/web names, does not exist; create it or remove the entry",
			[]v1alpha1.ManifestsSource{fromConfigMap("none")},
		},
		{
			"without data", "SourceEmpty",
			"ConfigMap fleet/empty, which spec.manifestsFrom[0] of Layer fleet/web names, has no data; fill it or remove the entry",
			[]v1alpha1.ManifestsSource{fromConfigMap("empty")},
		},
		{"no YAML", "InvalidManifest", "", []v1alpha1.ManifestsSource{fromConfigMap("broken")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := revision.Gather(t.Context(), layerOf(v1alpha1.LayerSpec{ManifestsFrom: row.from}), "sys", hub.read)
			var unusable *revision.UnusableError
			if !errors.As(err, &unusable) || unusable.Reason != row.reason {
				t.Fatalf("error %v", err)
			}
			if row.message != "" && unusable.Message != row.message {
				t.Error(cmp.Diff(row.message, unusable.Message))
			}
		})
	}
}

// An error is not emptiness.
func TestGatherDoesNotShrinkWhenTheHubIsAway(t *testing.T) {
	spec := v1alpha1.LayerSpec{
		Manifests:     []runtime.RawExtension{{Raw: []byte(`{"kind":"Inline"}`)}},
		ManifestsFrom: []v1alpha1.ManifestsSource{fromConfigMap("away")},
	}
	_, err := revision.Gather(t.Context(), layerOf(spec), "sys", stored{}.read)
	var unusable *revision.UnusableError
	if !errors.Is(err, errAway) || errors.As(err, &unusable) {
		t.Errorf("error %v", err)
	}
}
