package placement

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// recordChoices takes what people chose, by annotations on the layer, into its status, with the
// time. What does not speak of the newest revision is not for now: it was about another one, or is
// ahead of it.
func recordChoices(layer v1alpha1.Layered, now metav1.Time) {
	status := layer.LayerStatus()
	approved, by, _ := strings.Cut(layer.GetAnnotations()[v1alpha1.AnnotationApproved], v1alpha1.ChosenBy)
	if approved != "" && approved == status.Revision && (status.Approved == nil || status.Approved.Revision != approved) {
		status.Approved = &v1alpha1.RevisionChoice{Revision: approved, By: by, At: now}
	}
	choice, by, _ := strings.Cut(layer.GetAnnotations()[v1alpha1.AnnotationRollback], v1alpha1.ChosenBy)
	to, from, _ := strings.Cut(choice, v1alpha1.InsteadOf)
	known := status.RolledBack
	if to != "" && from == status.Revision && (known == nil || known.From != from || known.Revision != to) {
		status.RolledBack = &v1alpha1.Rollback{
			RevisionChoice: v1alpha1.RevisionChoice{Revision: to, By: by, At: now}, From: from,
		}
	}
}
