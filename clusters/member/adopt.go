package member

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// clientSide are the managers under which kubectl's client-side apply keeps fields.
var clientSide = sets.New("kubectl-client-side-apply", "before-first-apply")

// KeptClientSide says whether fields of a live object are kept by kubectl's client-side
// apply.
func KeptClientSide(live *unstructured.Unstructured) bool {
	for _, entry := range live.GetManagedFields() {
		if clientSide.Has(entry.Manager) {
			return true
		}
	}
	return false
}

// Migrate makes what kubectl's client-side apply keeps of a live object ours, so that the
// next Apply removes what it does not hold, as kubectl itself would. The error is an *Error;
// it is a conflict where the object has changed since it was read.
func (m *Member) Migrate(ctx context.Context, live *unstructured.Unstructured) error {
	id := object.Of(live)
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, clientSide, v1alpha1.FieldManager)
	if err != nil {
		return failed("adopt", id, err)
	}
	if patch == nil {
		return nil
	}
	return m.patch(ctx, "adopt", id, live.GroupVersionKind().Version, types.JSONPatchType, patch)
}

// Release takes our marks off an object, if it is the one with the UID, and leaves
// everything else as it is: it is no longer ours. One that is not there counts as released;
// if another was made under its name the error is ErrReplaced. The error is an *Error.
func (m *Member) Release(ctx context.Context, id object.ID, version string, uid types.UID) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         uid,
		"labels":      map[string]any{v1alpha1.LabelHub: nil},
		"annotations": map[string]any{v1alpha1.AnnotationLayer: nil},
	}})
	if err != nil {
		return failed("release", id, err)
	}
	err = m.patch(ctx, "release", id, version, types.MergePatchType, patch)
	switch {
	case apierrors.IsNotFound(err) && Classify(err).Reason != ReasonKindNotServed:
		return nil
	case isAboutUID(err):
		return failed("release", id, ErrReplaced)
	}
	return err
}

func (m *Member) patch(ctx context.Context, op string, id object.ID, version string, kind types.PatchType, body []byte) error {
	at, err := m.locate(ctx, &id, version)
	if err != nil {
		return failed(op, id, err)
	}
	_, err = m.wire.do(ctx, m.wire.client.Patch(kind).
		AbsPath(at.path(id.Namespace, id.Name)...).
		Param("fieldManager", v1alpha1.FieldManager).
		Body(body))
	if err != nil {
		m.suspect(at, err)
		return failed(op, id, err)
	}
	return nil
}
