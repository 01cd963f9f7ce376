package member

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/syncline-dev/syncline/federation/object"
)

// The pauses of a watch that does not work: 0.5 s at first, 10 s and half as much again at
// most. A watch that ends and begins again pauses less; see run.
var (
	troubledBackoff = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 10 * time.Second}
	endedBackoff    = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 5 * time.Second}
)

// internalErrorRetry is how long a watch that a server ends with a 500 is resumed rather
// than listed again.
const internalErrorRetry = time.Minute

// kindWatch watches our objects of one kind. The protocol (lists, first streams, versions
// that are too old) is client-go's Reflector's. Everything that passes by itself is waited
// out below it, here and in stream: a Reflector that is told of an error lists everything
// again.
//
// While the watch does not work what is known of the kind may be old, and the store has the
// problem. It has it until we have caught up, not only until there is a connection again:
// see doubt and caughtUp.
type kindWatch struct {
	gvk      schema.GroupVersionKind
	selector string
	timeout  time.Duration // of a request that is no watch
	kinds    *kinds
	client   dynamic.Interface
	store    *store
	health   func(*unstructured.Unstructured) object.Health
	changed  func(schema.GroupKind)
	log      logr.Logger
	now      chan struct{} // ends a pause, and the stream of one that is in doubt

	restart context.CancelFunc // ends the Reflector; set by run before it starts one
	broken  map[rule]bool      // the rules whose breaking was logged; of the Reflector's goroutine
	// doubts counts the reasons to think that what is known is old; certain is what it was
	// when the connection in use was opened.
	doubts, certain atomic.Int64
}

// run watches until ctx is done. A watch that contradicts itself begins anew.
func (k *kindWatch) run(ctx context.Context) {
	backoff := troubledBackoff
	for {
		k.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		k.pause(ctx, backoff.Step())
	}
}

// follow runs one Reflector until ctx is done or restart is called.
func (k *kindWatch) follow(ctx context.Context) {
	ctx, k.restart = context.WithCancel(ctx)
	defer k.restart()
	reflector := cache.NewReflectorWithOptions(k, nil, &sink{kindWatch: k}, cache.ReflectorOptions{
		Name:            k.gvk.String(),
		TypeDescription: k.gvk.String(),
		Backoff:         ptr.To(endedBackoff),
	})
	reflector.MaxInternalErrorRetryDuration = internalErrorRetry
	// What a Reflector has to say is said by attempt, once per change.
	reflector.RunWithContext(klog.NewContext(ctx, logr.Discard()))
}

// tryNow ends a pause. It never blocks.
func (k *kindWatch) tryNow() {
	select {
	case k.now <- struct{}{}:
	default:
	}
}

// WatchWithContext implements cache.WatcherWithContext.
func (k *kindWatch) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.LabelSelector = k.selector
	first, err := k.open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return k.stream(ctx, opts, first), nil
}

// open opens one connection of a watch.
func (k *kindWatch) open(ctx context.Context, opts metav1.ListOptions) (w watch.Interface, err error) {
	err = k.attempt(ctx, cannotWatch, func(at resource) error {
		if opts.ResourceVersion != "" && opts.SendInitialEvents == nil {
			if err := k.confirm(ctx, at, opts.ResourceVersion); err != nil {
				return err
			}
		}
		w, err = k.client.Resource(at.GroupVersionResource).Watch(ctx, opts)
		return err
	})
	return w, err
}

// ListWithContext implements cache.ListerWithContext. Reflectors list only where a server
// cannot stream.
func (k *kindWatch) ListWithContext(ctx context.Context, opts metav1.ListOptions) (list runtime.Object, err error) {
	opts.LabelSelector = k.selector
	err = k.attempt(ctx, versionUnavailable, func(at resource) (err error) {
		list, err = k.client.Resource(at.GroupVersionResource).List(ctx, opts)
		return err
	})
	return list, err
}

// Watch implements cache.ListerWatcher, which reflectors no longer call.
func (k *kindWatch) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return k.WatchWithContext(context.Background(), opts)
}

// List implements cache.ListerWatcher, which reflectors no longer call.
func (k *kindWatch) List(opts metav1.ListOptions) (runtime.Object, error) {
	return k.ListWithContext(context.Background(), opts)
}

// attempt makes a request until it succeeds, ctx is done or the answer is one that is for
// the Reflector to act on.
func (k *kindWatch) attempt(ctx context.Context, forReflector func(error) bool, request func(resource) error) error {
	backoff := troubledBackoff
	for {
		doubts := k.doubts.Load()
		at, err := k.kinds.resolve(ctx, k.gvk)
		if err == nil {
			err = request(at)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if forReflector(err) {
			return err
		}
		if err == nil {
			k.certain.Store(doubts)
			return nil
		}
		if Classify(err).Reason == ReasonKindNotServed {
			k.kinds.forget(k.gvk.GroupVersion())
		}
		k.report(err)
		if k.pause(ctx, backoff.Step()) {
			backoff = troubledBackoff // something has changed
		}
	}
}

// versionUnavailable: the version asked for is gone or not yet there. A Reflector then
// asks for what there is.
func versionUnavailable(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// cannotWatch: moreover, the server may not stream first lists. A Reflector then lists.
func cannotWatch(err error) bool {
	return versionUnavailable(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// pause waits, and says whether tryNow has ended it.
func (k *kindWatch) pause(ctx context.Context, d time.Duration) (ended bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-k.now:
		return true
	}
	return false
}

// report records why the watch does not work, and says so once per change.
func (k *kindWatch) report(err error) {
	k.doubts.Add(1)
	gk := k.gvk.GroupKind()
	before, after := k.store.problem(gk), &WatchError{Failure: Classify(err)}
	k.store.setProblem(gk, after)
	if before == nil || before.Error() != after.Error() {
		k.log.Info("Watch does not work", "kind", k.gvk, "reason", after.Error())
		k.changed(gk)
	}
}

// doubt records that the member went out of sight: whatever the watch has not told by the
// time that it is back may be old.
func (k *kindWatch) doubt() {
	k.doubts.Add(1)
	if gk := k.gvk.GroupKind(); k.store.problem(gk) == nil {
		k.store.setProblem(gk, &WatchError{Failure{Transient, ReasonUnreachable, "the member was out of sight, and what has happened since is not known yet"}})
	}
}

func (k *kindWatch) inDoubt() bool { return k.doubts.Load() != k.certain.Load() }

// caughtUp records that the connection in use has told all that there was to tell when it
// was opened.
func (k *kindWatch) caughtUp() {
	gk := k.gvk.GroupKind()
	if k.inDoubt() || k.store.problem(gk) == nil {
		return
	}
	k.store.setProblem(gk, nil)
	k.log.Info("Watch works again", "kind", k.gvk)
	k.changed(gk)
}

// WatchError says why objects of a kind cannot be seen.
type WatchError struct{ Failure }

// Error implements error. It is the same for every attempt that fails for the same cause.
func (e *WatchError) Error() string { return e.Message }
