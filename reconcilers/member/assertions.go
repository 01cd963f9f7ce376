package member

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// A layer's assertions are asked when its objects have converged, and again after a while,
// since no watch tells of what they look at.
const (
	assertSoon   = 5 * time.Second // while one does not hold
	assertLater  = time.Minute     // while all hold
	assertWithin = 20 * time.Second
	// maxAsserted is how many objects an assertion may look at.
	maxAsserted = 2000
)

// answers are what became of a layer's assertions when they were last asked.
type answers struct {
	// revision that the member had, and the layer's generation: they answer nothing else.
	revision   string
	generation int64
	assertions []convergence.Assertion
	at, due    time.Time
}

// assert is what has become of the layer's assertions on the member, where its objects have
// converged. The last answers stand until others are due; what is decided at a deadline is
// asked then.
func (p *pass) assert(ctx context.Context, placed *stack.Placed) []convergence.Assertion {
	known, asked := p.pages.answers[placed.Ref()]
	late := func(deadline time.Time) bool { return !p.now.Before(deadline) && known.at.Before(deadline) }
	wait := placed.Status().Wait
	switch {
	case !asked, known.revision != placed.Given, known.generation != placed.Layer.GetGeneration(), late(known.due),
		wait != nil && wait.TimeoutAt != nil && late(wait.TimeoutAt.Time):
		known = answers{
			revision: placed.Given, generation: placed.Layer.GetGeneration(),
			assertions: p.askAssertions(ctx, placed), at: p.now, due: p.now.Add(assertLater),
		}
		if slices.ContainsFunc(known.assertions, func(a convergence.Assertion) bool { return a.Answer != expression.True }) {
			known.due = p.now.Add(assertSoon)
		}
		p.pages.answers[placed.Ref()] = known
	}
	p.wakeAt(known.due)
	return known.assertions
}

// askAssertions reads live what the layer's assertions look at, and asks them.
func (p *pass) askAssertions(ctx context.Context, placed *stack.Placed) []convergence.Assertion {
	ctx, cancel := context.WithTimeout(ctx, assertWithin)
	defer cancel()
	set := placed.Criteria.Assertions
	view := assertion.View{
		Facts:    stack.Facts(p.member, versionOf(p.member, p.connection)),
		Observed: map[string]assertion.Sight{},
	}
	if set.ReadsLayer() {
		view.Layer = p.sightOfLayer(ctx, placed)
	}
	read := map[v1alpha1.ObservedObjects]assertion.Sight{}
	for name, selected := range set.Observed() {
		if _, already := read[selected]; !already {
			read[selected] = sightOf(ctx, p.connection.member, selected)
		}
		view.Observed[name] = read[selected]
	}
	var asked []convergence.Assertion
	for _, result := range set.Evaluate(view) {
		asked = append(asked, convergence.Assertion(result))
	}
	return asked
}

func sightOf(ctx context.Context, m *member.Member, selected v1alpha1.ObservedObjects) assertion.Sight {
	list, err := m.List(ctx, selected, maxAsserted)
	if err != nil {
		return assertion.Sight{Unreadable: member.Classify(err).Message}
	}
	objects := make([]map[string]any, len(list.Items))
	for i := range list.Items {
		objects[i] = list.Items[i].Object
	}
	return assertion.Sight{Objects: objects}
}

// sightOfLayer reads the objects that the layer has a part in.
func (p *pass) sightOfLayer(ctx context.Context, placed *stack.Placed) assertion.Sight {
	var steps []*step
	for i := range p.plan.steps {
		if slices.Contains(p.plan.steps[i].object.Layers, placed.Ref()) {
			steps = append(steps, &p.plan.steps[i])
		}
	}
	if len(steps) > maxAsserted {
		return assertion.Sight{Unreadable: fmt.Sprintf("the layer has more than %d: observe fewer by a selector", maxAsserted)}
	}
	objects := make([]map[string]any, len(steps))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i, s := range steps {
		group.Go(func() error {
			live, err := p.connection.member.Get(ctx, s.object.ID, s.object.GVK.Version)
			if err != nil {
				return err
			}
			objects[i] = live.Object
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return assertion.Sight{Unreadable: member.Classify(err).Message}
	}
	return assertion.Sight{Objects: objects}
}
