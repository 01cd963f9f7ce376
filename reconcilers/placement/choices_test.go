package placement

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestRecordChoices(t *testing.T) {
	now := metav1.NewTime(time.Unix(2000, 0))
	before := metav1.NewTime(time.Unix(1000, 0))
	approved := func(revision, by string, at metav1.Time) *v1alpha1.RevisionChoice {
		return &v1alpha1.RevisionChoice{Revision: revision, By: by, At: at}
	}
	returned := func(to, from, by string, at metav1.Time) *v1alpha1.Rollback {
		return &v1alpha1.Rollback{RevisionChoice: *approved(to, by, at), From: from}
	}
	for name, c := range map[string]struct {
		approve, rollback string // the annotations
		had               v1alpha1.LayerStatus
		approved          *v1alpha1.RevisionChoice
		rolledBack        *v1alpha1.Rollback
	}{
		"nothing chosen":                   {},
		"approved":                         {approve: "web-2 by ada", approved: approved("web-2", "ada", now)},
		"approved by nobody in particular": {approve: "web-2", approved: approved("web-2", "", now)},
		"an older one approved":            {approve: "web-1 by ada"},
		"approved before":                  {approve: "web-2 by ada", had: v1alpha1.LayerStatus{Approved: approved("web-2", "ada", before)}, approved: approved("web-2", "ada", before)},
		"an older approval stays":          {approve: "web-1 by ada", had: v1alpha1.LayerStatus{Approved: approved("web-1", "ada", before)}, approved: approved("web-1", "ada", before)},
		"rolled back":                      {rollback: "web-1 instead of web-2 by ada", rolledBack: returned("web-1", "web-2", "ada", now)},
		"rolled back from an older one":    {rollback: "web-0 instead of web-1 by ada"},
		"rolled back before": {
			rollback: "web-1 instead of web-2 by ada", had: v1alpha1.LayerStatus{RolledBack: returned("web-1", "web-2", "ada", before)},
			rolledBack: returned("web-1", "web-2", "ada", before),
		},
		"rolled back further": {
			rollback: "web-0 instead of web-2 by bob", had: v1alpha1.LayerStatus{RolledBack: returned("web-1", "web-2", "ada", before)},
			rolledBack: returned("web-0", "web-2", "bob", now),
		},
		"nonsense": {approve: " by ", rollback: "web-1 by ada"},
	} {
		l := &v1alpha1.Layer{Status: c.had}
		l.Status.Revision = "web-2"
		l.Annotations = map[string]string{v1alpha1.AnnotationApproved: c.approve, v1alpha1.AnnotationRollback: c.rollback}
		recordChoices(l, now)
		if diff := cmp.Diff(c.approved, l.Status.Approved); diff != "" {
			t.Errorf("%s: approved (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.rolledBack, l.Status.RolledBack); diff != "" {
			t.Errorf("%s: rolled back (-want +got):\n%s", name, diff)
		}
	}
}
