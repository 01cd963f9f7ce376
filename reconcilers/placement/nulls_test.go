package placement

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestNullsThatKubectlDropped(t *testing.T) {
	const (
		withNull    = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":null}}`
		withoutNull = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{}}`
	)
	for _, row := range []struct {
		name                    string
		manager, applied, there string
		refused                 bool
	}{
		{"dropped", clientSideApply, withNull, withoutNull, true},
		{"nothing to drop", clientSideApply, withoutNull, withoutNull, false},
		{"kept, since it was applied by the server later", clientSideApply, withNull, withNull, false},
		{"taken out by hand", "kubectl-edit", withNull, withoutNull, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			layer := &v1alpha1.Layer{
				ObjectMeta: metav1.ObjectMeta{
					Annotations: map[string]string{
						corev1.LastAppliedConfigAnnotation: `{"spec":{"order":1,"manifests":[` + row.applied + `]}}`,
					},
					ManagedFields: []metav1.ManagedFieldsEntry{{
						Manager: row.manager, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:manifests":{}}}`),
					}},
				},
				Spec: v1alpha1.LayerSpec{Manifests: []runtime.RawExtension{{Raw: []byte(row.there)}}},
			}
			if got := droppedNulls(layer); (got != nil) != row.refused {
				t.Errorf("refusal: %v", got)
			}
		})
	}
}
