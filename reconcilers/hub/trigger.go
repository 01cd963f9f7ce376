package hub

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// Trigger is a source of requests that come from elsewhere than the hub's watches. The zero
// value is ready for use, by any goroutine.
type Trigger[request comparable] struct {
	mu     sync.Mutex
	locked lockedTrigger[request]
}

type lockedTrigger[request comparable] struct {
	queue workqueue.TypedRateLimitingInterface[request] // nil before Start
	early map[request]bool                              // those that came before it
}

// Start implements source.TypedSource.
func (t *Trigger[request]) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.locked.queue = queue
	for r := range t.locked.early {
		queue.Add(r)
	}
	t.locked.early = nil
	return nil
}

// Fire queues a request. It never blocks.
func (t *Trigger[request]) Fire(r request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.locked.queue == nil {
		if t.locked.early == nil {
			t.locked.early = map[request]bool{}
		}
		t.locked.early[r] = true
		return
	}
	t.locked.queue.Add(r)
}
