package member

import (
	"context"
	"maps"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watches keeps one watch per wanted kind. What is wanted is said at any time and from
// anywhere; what runs belongs to the one goroutine in run.
type watches struct {
	store *store
	open  func(schema.GroupVersionKind, logr.Logger) *kindWatch
	// nudge wakes run; one that is not yet taken stands for all later ones.
	nudge chan struct{}

	mu     sync.Mutex
	locked lockedWatches
}

type lockedWatches struct {
	wanted map[schema.GroupKind]schema.GroupVersionKind
	epoch  int  // counts the times that all watches were to begin anew
	retry  bool // watches that wait, or are in doubt, should try again
	doubt  bool // the member went out of sight
}

// runningWatch is a watch whose goroutine runs.
type runningWatch struct {
	*kindWatch
	epoch  int
	cancel context.CancelFunc
	done   chan struct{}
}

func newWatches(s *store, open func(schema.GroupVersionKind, logr.Logger) *kindWatch) *watches {
	return &watches{store: s, open: open, nudge: make(chan struct{}, 1)}
}

// want sets which kinds are watched, in which versions.
func (w *watches) want(gvks []schema.GroupVersionKind) {
	wanted := make(map[schema.GroupKind]schema.GroupVersionKind, len(gvks))
	for _, gvk := range gvks {
		wanted[gvk.GroupKind()] = gvk
	}
	w.update(func(l *lockedWatches) bool {
		if maps.Equal(l.wanted, wanted) {
			return false
		}
		l.wanted = wanted
		return true
	})
}

// restart begins all watches anew, with empty memories: the member is another cluster.
func (w *watches) restart() {
	w.update(func(l *lockedWatches) bool { l.epoch++; return true })
}

// retry makes watches that wait for a kind to be served, or for a permission, try again.
func (w *watches) retry() {
	w.update(func(l *lockedWatches) bool { l.retry = true; return true })
}

// doubt tells the watches that the member went out of sight.
func (w *watches) doubt() {
	w.update(func(l *lockedWatches) bool { l.doubt = true; return true })
}

// applied hears that an object of a kind was applied: a watch that found the kind not
// served can now succeed.
func (w *watches) applied(gk schema.GroupKind) {
	if w.store.problem(gk) != nil {
		w.retry()
	}
}

func (w *watches) update(change func(*lockedWatches) (changed bool)) {
	w.mu.Lock()
	changed := change(&w.locked)
	w.mu.Unlock()
	if !changed {
		return
	}
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

func (w *watches) take() lockedWatches {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.locked
	w.locked.retry, w.locked.doubt = false, false
	return taken
}

// run keeps what runs equal to what is wanted, until ctx is done and all has ended.
func (w *watches) run(ctx context.Context, log logr.Logger) {
	running := map[schema.GroupKind]*runningWatch{}
	defer func() {
		for _, r := range running { // their contexts have ended with ours
			<-r.done
		}
	}()
	for {
		w.adjust(ctx, log, running, w.take())
		select {
		case <-ctx.Done():
			return
		case <-w.nudge:
		}
	}
}

func (w *watches) adjust(ctx context.Context, log logr.Logger, running map[schema.GroupKind]*runningWatch, to lockedWatches) {
	var stopped []*runningWatch
	for gk, r := range running {
		if to.wanted[gk] == r.gvk && to.epoch == r.epoch {
			continue
		}
		r.cancel()
		stopped = append(stopped, r)
		delete(running, gk)
	}
	for _, r := range stopped {
		<-r.done
		w.store.drop(r.gvk.GroupKind())
	}
	w.store.keepOnly(to.wanted)
	for gk, gvk := range to.wanted {
		r := running[gk]
		if r == nil {
			running[gk] = w.launch(ctx, log, gvk, to.epoch)
			continue
		}
		if to.doubt {
			r.doubt()
		}
		if to.retry {
			r.tryNow()
		}
	}
}

func (w *watches) launch(ctx context.Context, log logr.Logger, gvk schema.GroupVersionKind, epoch int) *runningWatch {
	ctx, cancel := context.WithCancel(ctx)
	r := &runningWatch{kindWatch: w.open(gvk, log), epoch: epoch, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer cancel()
		r.run(ctx)
	}()
	return r
}
