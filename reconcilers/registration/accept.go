package registration

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// accept reads the life of the Secret's credentials, nil for ever, or says why they are
// refused.
func accept(secret *corev1.Secret, options registration.Options) (*registration.Life, *registration.RefusedError) {
	accepted, err := registration.FromSecret(secret, options)
	var refused *registration.RefusedError
	if errors.As(err, &refused) {
		return nil, refused
	}
	if err != nil {
		return nil, &registration.RefusedError{Reason: "KubeconfigInvalid", Message: err.Error()}
	}
	return accepted.Life, nil
}

// expiring is the condition CredentialsExpiring, without a reason while they are not, and how
// long it is until it changes; 0 for never.
func expiring(secret string, life *registration.Life, now time.Time) (metav1.Condition, time.Duration) {
	condition := metav1.Condition{Type: v1alpha1.ConditionCredentialsExpiring}
	if life == nil {
		return condition, 0
	}
	ends := life.Ends.UTC().Format(time.RFC3339)
	switch {
	case !now.Before(life.Ends):
		condition.Reason = hub.ReasonExpired
		condition.Message = fmt.Sprintf("the credentials in Secret %s expired at %s: put a new kubeconfig there", secret, ends)
		return condition, 0
	case !now.Before(life.ExpiringFrom()):
		condition.Reason = hub.ReasonExpiresSoon
		condition.Message = fmt.Sprintf("the credentials in Secret %s expire at %s: put a new kubeconfig there before that", secret, ends)
		return condition, life.Ends.Sub(now)
	}
	return condition, life.ExpiringFrom().Sub(now)
}

// saysAlready reports whether the MemberCluster has exactly these labels from
// registration, so that an event that changes nothing writes nothing.
func saysAlready(member *v1alpha1.MemberCluster, labels map[string]any) bool {
	for _, entry := range member.ManagedFields {
		if entry.Manager != string(fieldManager) || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var owned fieldpath.Set
		if err := owned.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return false
		}
		ours := &owned
		for _, field := range []string{"metadata", "labels"} {
			ours = ours.WithPrefix(fieldpath.PathElement{FieldName: &field})
		}
		for key, value := range labels {
			if member.Labels[key] != value || !ours.Has(fieldpath.MakePathOrDie(key)) {
				return false
			}
		}
		return ours.Size() == len(labels)
	}
	return false
}

func fromUnstructured(u *unstructured.Unstructured, into *v1alpha1.MemberCluster) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("read applied MemberCluster: %w", err)
	}
	return nil
}
