package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// vandalInterval is from one ConfigMap that is deleted on a member to the next. Each is deleted
// about once a second, unless it is not back yet.
const vandalInterval = 100 * time.Millisecond

// mends are deleted ConfigMaps that came back.
type mends struct {
	// times from the deletion of each until it was back.
	times []time.Duration
}

func (m mends) perSecond() float64 { return float64(len(m.times)) / loadLasts.Seconds() }

// mendedDrift deletes ConfigMaps of ours on all members at a bounded rate for a while. Counted
// is what is back within that time; all are back when it returns.
func (b *bench) mendedDrift(ctx context.Context) (mends, error) {
	v := &vandal{bench: b}
	v.locked.gone = map[place]*absent{}
	b.watches.onChange(v.see)
	defer b.watches.onChange(nil)
	loading, deleting := errgroup.WithContext(ctx)
	for _, m := range b.fleet.Members() {
		n := 0
		loading.Go(func() error {
			return every(deleting, vandalInterval, loadLasts, func() error {
				n++
				return v.delete(deleting, place{m.Name(), configMaps.Resource, oursNamespace, fmt.Sprintf("c%d", n%measuredConfigMaps)})
			})
		})
	}
	if err := loading.Wait(); err != nil {
		return mends{}, err
	}
	found := v.mends()
	if err := until(ctx, func(context.Context) (bool, error) { return v.allBack(), nil }); err != nil {
		return found, fmt.Errorf("deleted objects are not back: %w", err)
	}
	return found, b.converged(ctx, measured)
}

// vandal deletes objects and sees them come back.
type vandal struct {
	*bench
	mu     sync.Mutex
	locked struct {
		gone  map[place]*absent
		times []time.Duration
	}
}

// absent is an object that was deleted at a time, which the watch has told or not.
type absent struct {
	since time.Time
	told  bool
}

// delete deletes an object that is there.
func (v *vandal) delete(ctx context.Context, at place) error {
	if !v.take(at) {
		return nil
	}
	err := v.bare[at.cluster].Delete().AbsPath("/api/v1/namespaces", at.namespace, at.resource, at.name).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("delete %v: %w", at, err)
	}
	return nil
}

// take notes that an object is about to be deleted, and says whether it is there.
func (v *vandal) take(at place) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.locked.gone[at] != nil {
		return false
	}
	v.locked.gone[at] = &absent{since: time.Now()}
	return true
}

// see is told of all that changes, with an empty stamp for what is gone.
func (v *vandal) see(at place, stamp string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch gone := v.locked.gone[at]; {
	case gone == nil:
	case stamp == "":
		gone.told = true
	case gone.told:
		v.locked.times = append(v.locked.times, time.Since(gone.since))
		delete(v.locked.gone, at)
	}
}

func (v *vandal) mends() mends {
	v.mu.Lock()
	defer v.mu.Unlock()
	return mends{v.locked.times[:len(v.locked.times):len(v.locked.times)]}
}

func (v *vandal) allBack() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.locked.gone) == 0
}
