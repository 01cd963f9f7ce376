package member

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// statusWindow is how long a status that was just written is left alone for no more than other
// words about the same. What is said last in it lands at its end.
const statusWindow = 500 * time.Millisecond

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
// revision, decision, time or object depends on when it is written.
func rewords(before, after *v1alpha1.LayerBindingStatus) bool {
	if before.State == "" {
		return false
	}
	same := after.DeepCopy()
	same.Phase, same.State, same.Since, same.Message = before.Phase, before.State, before.Since, before.Message
	same.Objects, same.Healthy, same.Drift, same.Ready = before.Objects, before.Healthy, before.Drift, before.Ready
	same.Problems, same.Conditions = before.Problems, before.Conditions
	return equality.Semantic.DeepEqual(before, same)
}

// statement is what a pass has to say of one layer on the member.
type statement struct {
	placed     *stack.Placed
	conclusion conclusion
	after      *v1alpha1.LayerBinding
	// made says that the hub has it, and wrote that this took a write.
	made, wrote bool
}

// state makes the statement that follows from a conclusion.
func (p *pass) state(placed *stack.Placed, c conclusion, listed entries) (*statement, error) {
	s := &statement{placed: placed, conclusion: c, after: placed.Binding.DeepCopy()}
	status := convergence.Record(placed.Binding.Status, c.verdict, c.progress, placed.Binding.Generation, metav1.NewTime(p.now))
	status.Epoch = int64(p.owner.Epoch)
	if err := p.list(&status, placed.Ref(), listed); err != nil {
		return nil, fmt.Errorf("status of binding %s: %w", placed.Binding.Name, err)
	}
	s.after.Status = status
	return s, nil
}

// postponed says whether the statement is made by a later pass, and has that pass made.
func (p *pass) postponed(s *statement) bool {
	rest := p.pages.pace.rest(s.after.Name, p.now)
	if rest == 0 || !rewords(&s.placed.Binding.Status, &s.after.Status) {
		return false
	}
	p.wakeIn(rest)
	p.wakeAt(s.conclusion.progress.Due)
	return true
}

// say writes statements. One that lists other objects than before is written before those that
// follow; the others do not wait for each other, since a hub may be slow. What follows from a
// statement is done whatever became of others.
func (r *Reconciler) say(ctx context.Context, p *pass, statements []*statement) error {
	var group errgroup.Group
	group.SetLimit(concurrency)
	write := func(s *statement) (err error) {
		if err := r.mayStillWrite(p.snapshot); err != nil {
			return err
		}
		s.wrote, err = hub.PatchStatus(ctx, r.Client, s.placed.Binding, s.after)
		s.made = err == nil
		return err
	}
	var failed error
	for _, s := range statements {
		if s.lists() {
			if failed = write(s); failed != nil {
				break
			}
			continue
		}
		group.Go(func() error { return write(s) })
	}
	if err := group.Wait(); failed == nil {
		failed = err
	}
	for _, s := range statements {
		if !s.made {
			continue
		}
		if s.wrote {
			p.pages.written[s.after.Name] = s.after
			p.pages.pace.written(s.after.Name, r.Clock.Now())
		}
		r.conclude(ctx, p, s.placed, s.conclusion)
		s.placed.Binding = s.after
	}
	return failed
}

// lists says whether the statement changes what is listed on the member.
func (s *statement) lists() bool {
	before, after := &s.placed.Binding.Status, &s.after.Status
	return before.MemberUID != after.MemberUID || !equality.Semantic.DeepEqual(before.Inventory, after.Inventory) ||
		!equality.Semantic.DeepEqual(before.InventoryData, after.InventoryData)
}
