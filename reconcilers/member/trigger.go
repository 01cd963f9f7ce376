package member

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// trigger is a source of requests that come from elsewhere than the hub's watches.
type trigger[request comparable] struct {
	mu     sync.Mutex
	locked workqueue.TypedRateLimitingInterface[request] // nil before Start
}

// Start implements source.TypedSource.
func (t *trigger[request]) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.locked = queue
	return nil
}

// fire queues a request. Before Start it does nothing: a controller that starts looks at
// everything anyway.
func (t *trigger[request]) fire(r request) {
	t.mu.Lock()
	queue := t.locked
	t.mu.Unlock()
	if queue != nil {
		queue.Add(r)
	}
}
