package convergence

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// The defaults of a layer's convergence policy.
const (
	DefaultPendingAfter = 30 * time.Second
	DefaultTimeout      = 2 * time.Minute
	DefaultRetries      = 3
)

// Policy is what a layer asks of one member.
type Policy struct {
	// PendingAfter and Timeout are counted from when the member is given a revision.
	PendingAfter, Timeout time.Duration
	// Fallback is what is done when the timeout has passed; Retries how often Retry tries again.
	Fallback v1alpha1.Fallback
	Retries  int32
	// MinHealthyPercent is how many of the objects must be healthy, once all are written and seen.
	MinHealthyPercent int32
	// TolerateUnknown lets the times stand still while the member cannot be seen.
	TolerateUnknown bool
}

// PolicyFor is what a layer asks of a member with these labels. The error is a relaxation that
// cannot be read, by its path; it relaxes nothing, and the others count.
func PolicyFor(spec *v1alpha1.ConvergencePolicy, member map[string]string) (Policy, error) {
	policy := Policy{
		PendingAfter:      duration(spec.PendingAfter, DefaultPendingAfter),
		Timeout:           duration(spec.Timeout, DefaultTimeout),
		Fallback:          cmp.Or(spec.Fallback, v1alpha1.FallbackHold),
		Retries:           ptr.Deref(spec.Retries, DefaultRetries),
		MinHealthyPercent: 100,
	}
	var unreadable error
	for i := range spec.Relaxations {
		relaxed := &spec.Relaxations[i]
		selector, err := metav1.LabelSelectorAsSelector(&relaxed.ClusterSelector)
		if err != nil {
			unreadable = cmp.Or(unreadable, fmt.Errorf("spec.convergence.relaxations[%d].clusterSelector: %w", i, err))
			continue
		}
		if selector.Matches(labels.Set(member)) {
			policy.relax(relaxed)
			break
		}
	}
	policy.PendingAfter = min(policy.PendingAfter, policy.Timeout)
	return policy, unreadable
}

func (p *Policy) relax(r *v1alpha1.Relaxation) {
	p.PendingAfter = duration(r.PendingAfter, p.PendingAfter)
	p.Timeout = duration(r.Timeout, p.Timeout)
	p.MinHealthyPercent = ptr.Deref(r.MinHealthyPercent, p.MinHealthyPercent)
	p.TolerateUnknown = r.TolerateUnknown
}

// duration is the one given. One that is not positive, which the API does not let pass, is as
// good as none: a deadline that has passed before anything was done would judge nothing.
func duration(given *metav1.Duration, otherwise time.Duration) time.Duration {
	if given == nil || given.Duration <= 0 {
		return otherwise
	}
	return given.Duration
}
