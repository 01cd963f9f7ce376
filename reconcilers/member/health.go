package member

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/object"
)

// healthRetry is when an object is read again whose health could not be.
const healthRetry = 5 * time.Second

// judgement is the health of an object by its layer's rule.
type judgement struct {
	// version of the object, and the layer's generation, of which the rule is.
	version    string
	generation int64
	health     object.Health
}

// covers says whether nothing newer is known than what was judged.
func (j judgement) covers(version string, generation int64) bool {
	if j.version == "" || j.generation != generation {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(j.version, version)
	if err != nil {
		return j.version == version
	}
	return order >= 0
}

// judgedKinds are those of the objects whose health a layer's rule says: each new version of
// them matters.
func (p *pass) judgedKinds(keepings keepings) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for i := range p.desired.objects {
		w := &p.desired.objects[i]
		if keepings[w.Home].health.For(w.ID.GroupKind()) {
			kinds[w.ID.GroupKind()] = true
		}
	}
	return kinds
}

// judgeByRules reads live what has changed of the objects whose health a rule says: watches keep
// of an object only what the conventions ask for.
func (p *pass) judgeByRules(ctx context.Context) {
	if !p.connection.usable() {
		return
	}
	var due []*step
	for i := range p.plan.steps {
		s := &p.plan.steps[i]
		if !s.keeping.health.For(s.object.ID.GroupKind()) {
			continue
		}
		seen, visible := p.connection.member.Seen(s.object.ID)
		if visible && !p.pages.judged[s.object.ID].covers(seen.ResourceVersion, s.keeping.generation) {
			due = append(due, s)
		}
	}
	judgements := make([]judgement, len(due))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i, s := range due {
		group.Go(func() error {
			judgements[i] = p.judgeByRule(ctx, s)
			return nil // what cannot be read is in progress, and stops nobody else
		})
	}
	_ = group.Wait() // no function returns an error
	for i, s := range due {
		p.pages.judged[s.object.ID] = judgements[i]
		if judgements[i].version == "" {
			p.wakeIn(healthRetry)
		}
	}
}

func (p *pass) judgeByRule(ctx context.Context, s *step) judgement {
	live, err := p.connection.member.Get(ctx, s.object.ID, s.object.GVK.Version)
	if err != nil {
		return judgement{health: object.Health{
			Status: object.InProgress, Message: "cannot be read: " + member.Classify(err).Message,
		}}
	}
	return judgement{version: live.GetResourceVersion(), generation: s.keeping.generation, health: s.keeping.health.Of(live)}
}

// healthOf is the health of a seen object: by its layer's rule, where there is one for its kind.
func (p *pass) healthOf(s *step, seen member.Observation) object.Health {
	if !s.keeping.health.For(s.object.ID.GroupKind()) {
		return seen.Health
	}
	judged := p.pages.judged[s.object.ID]
	if judged.version != "" && !judged.covers(seen.ResourceVersion, s.keeping.generation) {
		return object.Health{Status: object.InProgress, Message: "has changed and is to be judged"}
	}
	return judged.health
}
