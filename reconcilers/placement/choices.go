package placement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// returned is the revision that a person wants in the place of the newest one, and by whom; empty if
// nobody does.
func returned(layer v1alpha1.Layered) (to, by string) {
	choice, by, _ := strings.Cut(layer.GetAnnotations()[v1alpha1.AnnotationRollback], v1alpha1.ChosenBy)
	to, from, _ := strings.Cut(choice, v1alpha1.InsteadOf)
	if from != layer.LayerStatus().Revision {
		return "", ""
	}
	return to, by
}

// unknownReturn is the refusal of a choice to return to what is not there: members keep what they
// have.
func (r *Reconciler) unknownReturn(ctx context.Context, layer v1alpha1.Layered) (*revision.UnusableError, error) {
	to, _ := returned(layer)
	if to == "" {
		return nil, nil
	}
	history, err := r.Revisions.History(ctx, layer)
	if err != nil || slices.Contains(history, to) {
		return nil, err
	}
	return &revision.UnusableError{Reason: "UnknownRevision", Message: fmt.Sprintf(
		"annotation %s: there is no revision %s of the layer: remove the annotation, or name one of %s",
		v1alpha1.AnnotationRollback, to, bounded(history))}, nil
}

// recordChoices takes what people chose, by annotations on the layer, into its status, with the
// time. What does not speak of the newest revision is not for now: it was about another one, or is
// ahead of it.
func recordChoices(layer v1alpha1.Layered, now metav1.Time) {
	status := layer.LayerStatus()
	approved, by, _ := strings.Cut(layer.GetAnnotations()[v1alpha1.AnnotationApproved], v1alpha1.ChosenBy)
	if approved != "" && approved == status.Revision && (status.Approved == nil || status.Approved.Revision != approved) {
		status.Approved = &v1alpha1.RevisionChoice{Revision: approved, By: by, At: now}
	}
	to, by := returned(layer)
	known := status.RolledBack
	if to != "" && (known == nil || known.From != status.Revision || known.Revision != to) {
		status.RolledBack = &v1alpha1.Rollback{
			RevisionChoice: v1alpha1.RevisionChoice{Revision: to, By: by, At: now}, From: status.Revision,
		}
	}
}
