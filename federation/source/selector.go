package source

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// Selector is a Target that is ready to be asked.
type Selector struct {
	target v1alpha1.Target
	labels labels.Selector
}

// Select prepares a target. With an error, the selector still works, by the target's other
// fields: so that callers can tell which objects a broken target might have meant.
func Select(target v1alpha1.Target) (Selector, error) {
	s := Selector{target: target, labels: labels.Everything()}
	if target.LabelSelector == nil {
		return s, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(target.LabelSelector)
	if err != nil {
		return s, fmt.Errorf("labelSelector: %w", err)
	}
	s.labels = selector
	return s, nil
}

// Matches says whether every field of the target matches the object. The labels are asked
// for only where the target selects by them.
func (s Selector) Matches(id object.ID, set func() map[string]string) bool {
	t := s.target
	return (t.Group == nil || *t.Group == id.Group) &&
		(t.Kind == "" || t.Kind == id.Kind) &&
		(t.Namespace == "" || t.Namespace == id.Namespace) &&
		(t.Name == "" || t.Name == id.Name) &&
		(s.labels.Empty() || s.labels.Matches(labels.Set(set())))
}
