package placement

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// clientSideApply is the field manager of kubectl apply without --server-side.
const clientSideApply = "kubectl-client-side-apply"

// droppedNulls is the refusal of a layer whose removals were lost on the way: kubectl
// apply, without --server-side, takes every null out of what it sends. What the person
// wrote is still in the annotation that it leaves.
func droppedNulls(layer v1alpha1.Layered) *revision.UnusableError {
	applied := layer.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	if applied == "" || !ownedByClientSideApply(layer) {
		return nil
	}
	var written struct {
		Spec v1alpha1.LayerSpec `json:"spec"`
	}
	if err := json.Unmarshal([]byte(applied), &written); err != nil {
		return nil //nolint:nilerr // whatever this annotation is, it is not what kubectl left
	}
	lost := nullsIn(&written.Spec) - nullsIn(layer.LayerSpec())
	if lost <= 0 {
		return nil
	}
	return &revision.UnusableError{Reason: "NullsDropped", Message: fmt.Sprintf(
		"kubectl apply dropped %d null from spec.manifests and spec.patches, each of which removes a field; "+
			"members keep what they have. Apply the layer with kubectl apply --server-side", lost)}
}

// ownedByClientSideApply says whether the layer's content was last written that way. Who
// edits it later in another way means what is there.
func ownedByClientSideApply(layer v1alpha1.Layered) bool {
	for _, entry := range layer.GetManagedFields() {
		if entry.Manager != clientSideApply || entry.FieldsV1 == nil {
			continue
		}
		var owned struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if err := json.NewDecoder(entry.FieldsV1.GetRawReader()).Decode(&owned); err != nil {
			continue
		}
		if owned.Spec["f:manifests"] != nil || owned.Spec["f:patches"] != nil {
			return true
		}
	}
	return false
}

func nullsIn(spec *v1alpha1.LayerSpec) int {
	count := 0
	for _, manifest := range spec.Manifests {
		count += nullsInRaw(manifest)
	}
	for _, patch := range spec.Patches {
		if patch.Merge != nil {
			count += nullsInRaw(*patch.Merge)
		}
	}
	return count
}

func nullsInRaw(raw runtime.RawExtension) int {
	var value any
	if err := json.Unmarshal(raw.Raw, &value); err != nil {
		return 0
	}
	return nullsInValue(value)
}

func nullsInValue(value any) int {
	count := 0
	switch v := value.(type) {
	case nil:
		return 1
	case map[string]any:
		for _, item := range v {
			count += nullsInValue(item)
		}
	case []any:
		for _, item := range v {
			count += nullsInValue(item)
		}
	}
	return count
}
