package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

const (
	// keptName is the ConfigMap that probers change.
	keptName = "kept"
	// keptLabel tells multicluster-runtime's controller what to keep.
	keptLabel = "bench.syncline.dev/kept"
	// kept is what its fields hold when nobody has changed them.
	kept = "kept"
	// changed is what a prober writes into a field.
	changed = "changed"

	// betweenProbes leaves the machine time for others. A gap that begins in it is measured
	// shorter by this at most.
	betweenProbes = 50 * time.Millisecond
	// longestOutage is what a member counts that nobody has mended for longer.
	longestOutage = 90 * time.Second
)

// keptFields are changed in turns: who changes one field again and again has an opinion of
// his own on it, and Syncline would leave it to him for a while.
var keptFields = []string{"a", "b"}

// keptIn is the object that probers change.
func keptIn(namespace string) object {
	data := object{}
	for _, field := range keptFields {
		data[field] = kept
	}
	m := metadata(namespace, keptName, "0")
	m["labels"] = object{keptLabel: "true"}
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m, "data": data}
}

// stateOf is kept or changed.
func stateOf(o *unstructured.Unstructured) string {
	for _, field := range keptFields {
		if value, _, _ := unstructured.NestedString(o.Object, "data", field); value != kept {
			return changed
		}
	}
	return kept
}

// probers change one object on each member, and as soon as it is mended again: so the longest
// time that a change stays is the longest time in which nobody looks after the member.
type probers struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	watches *watches
	all     map[string]*prober // by member
}

// prober changes the object on one member.
type prober struct {
	member    string
	client    rest.Interface
	namespace string
	seen      chan string // the states of the object, in their order

	mu     sync.Mutex
	locked struct{ outages []outage }
}

// outage is the time from a change until it was mended. It has no end until then.
type outage struct {
	from, to time.Time
}

// lasted is how long the outage lasted, or has lasted by now.
func (o outage) lasted(now time.Time) time.Duration {
	if o.to.IsZero() {
		return now.Sub(o.from)
	}
	return o.to.Sub(o.from)
}

// probe changes the object in a namespace of every member until stop is called.
func (b *bench) probe(ctx context.Context, namespace string) (*probers, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &probers{cancel: cancel, all: map[string]*prober{}}
	var feeds []feed
	for _, m := range b.fleet.Members() {
		feeds = append(feeds, feed{m, configMaps, namespace, stateOf})
		p.all[m.Name()] = &prober{member: m.Name(), client: b.bare[m.Name()], namespace: namespace, seen: make(chan string)}
	}
	var err error
	if p.watches, err = watchAll(ctx, feeds...); err != nil {
		cancel()
		return nil, err
	}
	p.watches.onChange(func(at place, state string) {
		if at.name != keptName {
			return
		}
		select {
		case p.all[at.cluster].seen <- state:
		case <-ctx.Done():
		}
	})
	for _, one := range p.all {
		p.running.Go(func() { one.run(ctx) })
	}
	return p, nil
}

func (p *probers) stop() {
	p.cancel()
	p.running.Wait()
	p.watches.stop()
}

func (p *prober) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		if err := p.change(ctx, keptFields[n%len(keptFields)]); err != nil && ctx.Err() == nil {
			say("# %s cannot be changed: %v", p.member, err)
		}
		p.rest(ctx)
	}
}

// change changes a field and returns when it is mended.
func (p *prober) change(ctx context.Context, field string) error {
	answered := make(chan error, 1)
	p.begin()
	defer p.end()
	go func() { answered <- p.patch(ctx, field) }()
	for broken := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-answered:
			if err != nil {
				return err
			}
		case state := <-p.seen:
			if broken && state == kept {
				return nil
			}
			broken = broken || state == changed
		}
	}
}

func (p *prober) patch(ctx context.Context, field string) error {
	err := p.client.Patch(types.MergePatchType).
		AbsPath("/api/v1/namespaces", p.namespace, configMaps.Resource, keptName).
		Param("fieldManager", userAgent).
		Body(fmt.Appendf(nil, `{"data":{%q:%q}}`, field, changed)).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("change field %s: %w", field, err)
	}
	return nil
}

// rest waits a moment and looks on.
func (p *prober) rest(ctx context.Context) {
	timer := time.NewTimer(betweenProbes)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-p.seen:
		}
	}
}

func (p *prober) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locked.outages = append(p.locked.outages, outage{from: time.Now()})
}

func (p *prober) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locked.outages[len(p.locked.outages)-1].to = time.Now()
}

// since are the outages that had not ended before a moment.
func (p *prober) since(moment time.Time) []outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := len(p.locked.outages)
	for first > 0 {
		last := p.locked.outages[first-1]
		if !last.to.IsZero() && last.to.Before(moment) {
			break
		}
		first--
	}
	return append([]outage(nil), p.locked.outages[first:]...)
}

// longest is the longest outage of a member that touches the time since a moment.
func (p *probers) longest(member string, since time.Time) time.Duration {
	now := time.Now()
	var longest time.Duration
	for _, o := range p.all[member].since(since) {
		longest = max(longest, o.lasted(now))
	}
	return min(longest, longestOutage)
}

// lasted are all outages since a moment that have ended.
func (p *probers) lasted(since time.Time) []time.Duration {
	var all []time.Duration
	for _, one := range p.all {
		for _, o := range one.since(since) {
			if !o.to.IsZero() {
				all = append(all, o.lasted(o.to))
			}
		}
	}
	return all
}

// mended says whether no change has waited for longer than a time.
func (p *probers) mended(within time.Duration) bool {
	now := time.Now()
	for _, one := range p.all {
		for _, o := range one.since(now) {
			if o.lasted(now) > within {
				return false
			}
		}
	}
	return true
}
