package member

import (
	"context"
	"errors"
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

// kindWatch watches our objects of one kind. The protocol (lists, streams, bookmarks,
// versions that are too old) is client-go's Reflector's. Everything that passes by itself
// is waited out below it, in WatchWithContext and ListWithContext: a Reflector that is told
// of an error lists everything again.
type kindWatch struct {
	gvk      schema.GroupVersionKind
	selector string
	kinds    *kinds
	client   dynamic.Interface
	store    *store
	health   func(*unstructured.Unstructured) object.Health
	changed  func(schema.GroupKind)
	log      logr.Logger
	now      chan struct{} // ends a pause
}

// run watches until ctx is done.
func (k *kindWatch) run(ctx context.Context) {
	reflector := cache.NewReflectorWithOptions(k, nil, &sink{k}, cache.ReflectorOptions{
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
func (k *kindWatch) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (w watch.Interface, err error) {
	opts.LabelSelector = k.selector
	err = k.attempt(ctx, cannotWatch, func(at dynamic.ResourceInterface) (err error) {
		w, err = at.Watch(ctx, opts)
		return err
	})
	return w, err
}

// ListWithContext implements cache.ListerWithContext. Reflectors list only where a server
// cannot stream.
func (k *kindWatch) ListWithContext(ctx context.Context, opts metav1.ListOptions) (list runtime.Object, err error) {
	opts.LabelSelector = k.selector
	err = k.attempt(ctx, versionUnavailable, func(at dynamic.ResourceInterface) (err error) {
		list, err = at.List(ctx, opts)
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
func (k *kindWatch) attempt(ctx context.Context, forReflector func(error) bool, request func(dynamic.ResourceInterface) error) error {
	backoff := troubledBackoff
	for {
		at, err := k.kinds.resolve(ctx, k.gvk)
		if err == nil {
			err = request(k.client.Resource(at.GroupVersionResource))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if forReflector(err) {
			return err
		}
		if Classify(err).Reason == ReasonKindNotServed {
			k.kinds.forget(k.gvk.GroupVersion())
		}
		k.report(err)
		if err == nil {
			return nil
		}
		k.pause(ctx, backoff.Step())
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

func (k *kindWatch) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-k.now:
	}
}

// report records whether the watch works, and says so once per change.
func (k *kindWatch) report(err error) {
	gk := k.gvk.GroupKind()
	before, after := k.store.problem(gk), error(nil)
	if err != nil {
		after = &WatchError{Failure: Classify(err)}
	}
	k.store.setProblem(gk, after)
	switch {
	case after == nil && before != nil:
		k.log.Info("Watch works again", "kind", k.gvk)
	case after != nil && (before == nil || before.Error() != after.Error()):
		k.log.Info("Watch does not work", "kind", k.gvk, "reason", after.Error())
	default:
		return
	}
	k.changed(gk)
}

// WatchError says why objects of a kind cannot be seen.
type WatchError struct{ Failure }

// Error implements error. It is the same for every attempt that fails for the same cause.
func (e *WatchError) Error() string { return e.Message }

// sink puts what a Reflector brings into the store.
type sink struct{ *kindWatch }

var errNotOurs = errors.New("neither an unstructured object nor a sighting")

// Transformer implements cache.TransformingStore: of a first list, too, only observations
// are held.
func (s *sink) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return s.reduce(obj) }
}

func (s *sink) reduce(obj any) (*sighting, error) {
	switch obj := obj.(type) {
	case *sighting:
		return obj, nil
	case *unstructured.Unstructured:
		seen := observe(obj, s.health)
		seen.ID.Group, seen.ID.Kind = s.gvk.Group, s.gvk.Kind // one string for all
		return &sighting{
			ObjectMeta: metav1.ObjectMeta{Namespace: seen.ID.Namespace, Name: seen.ID.Name, ResourceVersion: seen.ResourceVersion},
			seen:       seen,
		}, nil
	}
	return nil, errNotOurs
}

// Add implements cache.ReflectorStore.
func (s *sink) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *sink) Update(obj any) error {
	sighted, err := s.reduce(obj)
	if err == nil && s.store.seen(sighted.seen) {
		s.changed(s.gvk.GroupKind())
	}
	return err
}

// Delete implements cache.ReflectorStore. An object that lost our label is as good as gone.
func (s *sink) Delete(obj any) error {
	sighted, err := s.reduce(obj)
	if err == nil && s.store.removed(sighted.seen.ID, sighted.seen.ResourceVersion) {
		s.changed(s.gvk.GroupKind())
	}
	return err
}

// Replace implements cache.ReflectorStore.
func (s *sink) Replace(list []any, version string) error {
	seen := make([]Observation, 0, len(list))
	for _, obj := range list {
		sighted, err := s.reduce(obj)
		if err != nil {
			return err
		}
		seen = append(seen, sighted.seen)
	}
	if s.store.replaced(s.gvk.GroupKind(), seen, version) {
		s.changed(s.gvk.GroupKind())
	}
	return nil
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s *sink) Bookmark(version string) error {
	s.store.bookmarked(s.gvk.GroupKind(), version)
	return nil
}

// Resync implements cache.ReflectorStore. Nothing is resynced.
func (s *sink) Resync() error { return nil }
