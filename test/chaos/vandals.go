package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/syncline-dev/syncline/test/fleet"
)

// drift is a change that somebody made on a member, until it was mended.
type drift struct {
	member   string
	what     string
	from, to time.Time // to is zero while it is not mended
}

// lasted is how long the drift stayed, or has stayed by now.
func (d *drift) lasted(now time.Time) time.Duration {
	if d.to.IsZero() {
		return now.Sub(d.from)
	}
	return d.to.Sub(d.from)
}

// vandals change what the layer "kept" has on members, one on each member, again and again:
// as soon as one change is mended, the next is made. So the longest time that a drift stays
// is the longest time in which nobody looks after the member.
type vandals struct {
	timeline timeline
	pause    time.Duration // between the end of a drift and the next

	mu     sync.Mutex
	locked lockedVandals
}

type lockedVandals struct {
	drifts []*drift
	active map[string]func() // by member; ends its vandal and waits for that
}

func newVandals(t timeline, pause time.Duration) *vandals {
	return &vandals{timeline: t, pause: pause, locked: lockedVandals{active: map[string]func(){}}}
}

// visit lets a vandal loose on a member, until leave is called or ctx is done.
func (v *vandals) visit(ctx context.Context, c *fleet.Cluster) error {
	clients, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { v.rampage(ctx, c.Name(), clients.CoreV1().ConfigMaps(keptNamespace)) })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.locked.active[c.Name()] = func() {
		cancel()
		running.Wait()
	}
	return nil
}

// leave ends the vandal of a member. A drift that has not been mended is forgotten.
func (v *vandals) leave(member string) {
	v.mu.Lock()
	end := v.locked.active[member]
	delete(v.locked.active, member)
	v.mu.Unlock()
	if end != nil {
		end()
	}
}

// leaveAll ends all vandals.
func (v *vandals) leaveAll() {
	v.mu.Lock()
	all := make([]string, 0, len(v.locked.active))
	for member := range v.locked.active {
		all = append(all, member)
	}
	v.mu.Unlock()
	for _, member := range all {
		v.leave(member)
	}
}

func (v *vandals) rampage(ctx context.Context, member string, configMaps corev1client.ConfigMapInterface) {
	for n := 0; ctx.Err() == nil; n++ {
		if err := v.change(ctx, member, configMaps, n); err != nil && ctx.Err() == nil {
			v.timeline.note(member, "cannot be changed: %v", err)
		}
		sleep(ctx, v.pause)
	}
}

// change makes the n-th change and waits until it is mended. In turns an object is deleted, and
// one of its fields is edited: never the same twice in a row, which would be a contest.
func (v *vandals) change(ctx context.Context, member string, configMaps corev1client.ConfigMapInterface, n int) error {
	name, field := keptNames[n%len(keptNames)], keptFields[n%len(keptFields)]
	what, change := "deleted "+name, func() error { return configMaps.Delete(ctx, name, metav1.DeleteOptions{}) }
	if n%2 == 1 {
		what, change = "edited "+field+" of "+name, func() error {
			graffiti := fmt.Appendf(nil, `{"data":{%q:"graffiti"}}`, field)
			_, err := configMaps.Patch(ctx, name, types.MergePatchType, graffiti, metav1.PatchOptions{FieldManager: "vandal"})
			return err
		}
	}
	stream, err := configMaps.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()})
	if err != nil {
		return err
	}
	defer stream.Stop()
	before, err := awaitKept(ctx, stream, "")
	if err != nil {
		return err
	}
	d := v.begin(member, what)
	if err = change(); err == nil {
		_, err = awaitKept(ctx, stream, before)
	}
	v.end(d, err)
	return err
}

// awaitKept waits until the object is as the layer wants it, in another version than before.
func awaitKept(ctx context.Context, stream watch.Interface, before string) (version string, err error) {
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case event, open := <-stream.ResultChan():
			if !open {
				return "", errors.New("the watch has ended")
			}
			o, is := event.Object.(*corev1.ConfigMap)
			if is && event.Type != watch.Deleted && isKept(o) && o.ResourceVersion != before {
				return o.ResourceVersion, nil
			}
		}
	}
}

func isKept(o *corev1.ConfigMap) bool {
	return !slices.ContainsFunc(keptFields, func(field string) bool { return o.Data[field] != keptValue })
}

func (v *vandals) begin(member, what string) *drift {
	v.mu.Lock()
	defer v.mu.Unlock()
	d := &drift{member: member, what: what, from: time.Now()}
	v.locked.drifts = append(v.locked.drifts, d)
	return d
}

// end takes that a drift was mended, or that nobody knows.
func (v *vandals) end(d *drift, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		d.to = time.Now()
		return
	}
	v.locked.drifts = slices.DeleteFunc(v.locked.drifts, func(other *drift) bool { return other == d })
}

// since are the drifts that stayed, for a moment at least, after a time.
func (v *vandals) since(begin time.Time) []drift {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []drift
	for _, d := range v.locked.drifts {
		if d.to.IsZero() || d.to.After(begin) {
			all = append(all, *d)
		}
	}
	return all
}

// sleep returns after a while, or when ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
