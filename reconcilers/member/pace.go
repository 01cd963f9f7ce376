package member

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// statusWindow is how long a status that was just written is left alone for no more than other
// words about the same. What is said last in it lands at its end.
const statusWindow = 500 * time.Millisecond

// arrivalWindow is for how long the new owner of a member leaves alone what the last one has said
// of it and what is still so but for the epoch. A hub on which owners change has enough to write,
// and the member waits meanwhile. It holds for owners that were given the member: what one says
// who is not heard of any more is not trusted for so long.
const arrivalWindow = 2 * time.Second

// pace spaces out the writes of statuses on the hub, by the names of their objects.
type pace map[string]time.Time

// written notes a write.
func (p pace) written(name string, now time.Time) { p[name] = now }

// rest is how much is left of the window that the last write has opened; 0 if there is none.
func (p pace) rest(name string, now time.Time) time.Duration {
	last, ok := p[name]
	if !ok {
		return 0
	}
	return max(last.Add(statusWindow).Sub(now), 0)
}

// rewords says whether a binding's status says nothing new but how far its objects are: no
// revision, decision, time or object depends on when it is written. A later epoch alone is none.
func rewords(before, after *v1alpha1.LayerBindingStatus) bool {
	if before.State == "" {
		return false
	}
	same := after.DeepCopy()
	same.Epoch = before.Epoch
	same.Phase, same.State, same.Since, same.Message = before.Phase, before.State, before.Since, before.Message
	same.Objects, same.Healthy, same.Drift, same.Ready = before.Objects, before.Healthy, before.Drift, before.Ready
	same.Problems, same.Conditions = before.Problems, before.Conditions
	return equality.Semantic.DeepEqual(before, same)
}
