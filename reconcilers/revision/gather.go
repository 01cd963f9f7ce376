package revision

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// Data reads what a ConfigMap or Secret holds. For one that is not there the error is an
// API NotFound.
type Data func(ctx context.Context, kind string, key types.NamespacedName) (map[string][]byte, error)

// UnusableError says why a layer's content, or a part of it, cannot be used until a person
// changes something.
type UnusableError struct {
	// Reason is a CamelCase word.
	Reason string
	// Message names the layer, the place and the way out.
	Message string
}

// ReasonSourceNotFound is the reason where manifestsFrom names what is not there.
const ReasonSourceNotFound = "SourceNotFound"

// Error is the message.
func (e *UnusableError) Error() string { return e.Message }

// Gather reads everything that the layer says: its own manifests and patches, and what
// manifestsFrom names, a ClusterLayer's from the system namespace. Whatever cannot be read
// is an error, of type *UnusableError where only a person can mend it: a layer never
// shrinks because something was out of reach.
func Gather(ctx context.Context, layer v1alpha1.Layered, systemNamespace string, read Data) (Content, error) {
	content := Content{Public: source.FromSpec(layer.LayerSpec())}
	namespace := layer.GetNamespace()
	if layer.LayerKind() == v1alpha1.KindClusterLayer {
		namespace = systemNamespace
	}
	for i, from := range layer.LayerSpec().ManifestsFrom {
		g := gathering{read: read, layer: layer, index: i}
		switch {
		case from.ConfigMap != nil:
			documents, err := g.documents(ctx, "ConfigMap", types.NamespacedName{Namespace: namespace, Name: from.ConfigMap.Name})
			if err != nil {
				return content, err
			}
			content.Public.Manifests = append(content.Public.Manifests, documents...)
		case from.Secret != nil:
			documents, err := g.documents(ctx, "Secret", types.NamespacedName{Namespace: namespace, Name: from.Secret.Name})
			if err != nil {
				return content, err
			}
			content.Secret = append(content.Secret, documents...)
		}
	}
	empty := len(content.Public.Manifests)+len(content.Public.Patches)+len(content.Secret) == 0
	if empty && !layer.LayerSpec().Sync.AllowEmpty {
		return content, &UnusableError{Reason: "Empty", Message: hub.Describe(layer) +
			" holds no manifests and no patches; members keep what they have. Delete the layer to remove its objects, or set sync.allowEmpty"}
	}
	return content, nil
}

// gathering reads one entry of manifestsFrom.
type gathering struct {
	read  Data
	layer v1alpha1.Layered
	index int
}

func (g gathering) documents(ctx context.Context, kind string, key types.NamespacedName) ([]json.RawMessage, error) {
	where := kind + " " + key.String()
	data, err := g.read(ctx, kind, key)
	if apierrors.IsNotFound(err) {
		return nil, g.unusable(ReasonSourceNotFound, where, "does not exist; create it or remove the entry")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", where, err)
	}
	if len(data) == 0 {
		return nil, g.unusable("SourceEmpty", where, "has no data; fill it or remove the entry")
	}
	var documents []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(data)) {
		read, err := source.ReadDocuments(where+" key "+name, data[name])
		if err != nil {
			return nil, &UnusableError{Reason: "InvalidManifest", Message: err.Error() + "; members keep what they have until it is corrected"}
		}
		documents = append(documents, read...)
	}
	return documents, nil
}

func (g gathering) unusable(reason, where, what string) *UnusableError {
	return &UnusableError{Reason: reason, Message: fmt.Sprintf(
		"%s, which spec.manifestsFrom[%d] of %s names, %s", where, g.index, hub.Describe(g.layer), what)}
}
