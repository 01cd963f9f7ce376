package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// unusableError says why a layer's content, or a part of it, cannot be used until a
// person changes something.
type unusableError struct {
	reason  string
	message string
}

func (e *unusableError) Error() string { return e.message }

// gather reads everything that the layer says. What it cannot read is an error: a layer
// never shrinks because something was out of reach.
func (r *Reconciler) gather(ctx context.Context, layer v1alpha1.Layered) (revision.Content, error) {
	spec := layer.LayerSpec()
	content := revision.Content{Public: source.FromSpec(spec)}
	for i, from := range spec.ManifestsFrom {
		documents, err := r.readSource(ctx, layer, i, from)
		if err != nil {
			return content, err
		}
		if from.Secret != nil {
			content.Secret = append(content.Secret, documents...)
		} else {
			content.Public.Manifests = append(content.Public.Manifests, documents...)
		}
	}
	if len(content.Public.Manifests)+len(content.Public.Patches)+len(content.Secret) == 0 {
		return content, &unusableError{reason: "Empty", message: hub.Describe(layer) +
			" holds no manifests and no patches; members keep what they have. Delete the layer to remove its objects"}
	}
	return content, nil
}

func (r *Reconciler) readSource(ctx context.Context, layer v1alpha1.Layered, i int, from v1alpha1.ManifestsSource) ([]json.RawMessage, error) {
	key := client.ObjectKey{Namespace: layer.GetNamespace()}
	if key.Namespace == "" {
		key.Namespace = r.SystemNamespace
	}
	var kind string
	var data map[string][]byte
	var err error
	switch {
	case from.ConfigMap != nil:
		kind, key.Name = "ConfigMap", from.ConfigMap.Name
		data, err = r.configMapData(ctx, key)
	case from.Secret != nil:
		kind, key.Name = "Secret", from.Secret.Name
		data, err = r.secretData(ctx, key)
	}
	where := fmt.Sprintf("%s %s", kind, key)
	if apierrors.IsNotFound(err) {
		return nil, &unusableError{reason: "SourceNotFound", message: fmt.Sprintf(
			"%s, which spec.manifestsFrom[%d] of %s names, does not exist; create it or remove the entry", where, i, hub.Describe(layer))}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", where, err)
	}
	if len(data) == 0 {
		return nil, &unusableError{reason: "SourceEmpty", message: fmt.Sprintf(
			"%s, which spec.manifestsFrom[%d] of %s names, has no data; fill it or remove the entry", where, i, hub.Describe(layer))}
	}
	var documents []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(data)) {
		read, err := source.ReadDocuments(where+" key "+name, data[name])
		if err != nil {
			return nil, &unusableError{reason: "InvalidManifest", message: err.Error()}
		}
		documents = append(documents, read...)
	}
	return documents, nil
}

func (r *Reconciler) configMapData(ctx context.Context, key client.ObjectKey) (map[string][]byte, error) {
	var configMap corev1.ConfigMap
	if err := r.Client.Get(ctx, key, &configMap); err != nil {
		return nil, err
	}
	data := maps.Clone(configMap.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for name, text := range configMap.Data {
		data[name] = []byte(text)
	}
	return data, nil
}

func (r *Reconciler) secretData(ctx context.Context, key client.ObjectKey) (map[string][]byte, error) {
	var secret corev1.Secret
	err := r.Client.Get(ctx, key, &secret)
	return secret.Data, err
}

// tooLarge is the refusal of a content that no revision can hold.
func tooLarge(err error) *unusableError {
	var size *source.TooLargeError
	if !errors.As(err, &size) {
		return nil
	}
	return &unusableError{reason: "TooLarge", message: size.Error()}
}

// refusals are the objects of a layer that no member can be given, whatever the member's
// facts. A template's own errors show on the bindings: they depend on the member.
func refusals(content revision.Content) *unusableError {
	whole := content.Public.With(content.Secret)
	if whole.Templated() {
		return nil
	}
	_, problems := source.Parse(whole, source.Facts{})
	var messages []string
	var reason string
	for _, problem := range problems {
		if problem.Severity != object.Error {
			continue
		}
		if reason == "" {
			reason = problem.Reason
		}
		messages = append(messages, problem.Message())
	}
	if reason == "" {
		return nil
	}
	return &unusableError{reason: reason, message: bounded(messages)}
}

// bounded joins messages within what a condition can hold.
func bounded(messages []string) string {
	const most = 5
	if len(messages) > most {
		messages = append(messages[:most:most], fmt.Sprintf("and %d more", len(messages)-most))
	}
	return strings.Join(messages, "; ")
}
