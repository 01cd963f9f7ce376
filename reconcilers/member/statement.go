package member

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

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
	if p.owner.Reason == shard.ReasonAssigned {
		rest = max(rest, p.owner.Since.Add(arrivalWindow).Sub(p.now))
	}
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
