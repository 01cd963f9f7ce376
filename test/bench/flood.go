package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// floodRate is how often statuses change on all members together, per second.
	floodRate = 120
	// showLimit is how long the hub may take to show what has changed, once nothing changes.
	showLimit = 20 * time.Second
)

// screen is where the hub shows how the Deployments of a member fare.
type screen struct {
	resource schema.GroupVersionResource
	// userAgent is how those begin that write it.
	userAgent string
	// namespace of the Deployments on members.
	namespace string
	// member that an object of the resource is about; empty if none.
	member func(*unstructured.Unstructured) string
	// shown are the numbers of the changes that it shows, by Deployment.
	shown func(*unstructured.Unstructured) map[string]int
}

var (
	bindingsShow = screen{bindings, "syncline", oursNamespace, memberOfBinding, changesInBinding}
	reportsShow  = screen{reports, directAgent, bareNamespace, (*unstructured.Unstructured).GetName, changesInReport}
)

// flooded is what came of a flood of changes.
type flooded struct {
	// times from each change until the hub showed it, or a later one of the same Deployment.
	times []time.Duration
	// writes of statuses, and how many changes were shown by them.
	writes, shown int
}

func (f flooded) writesPerChange() float64 { return float64(f.writes) / float64(max(f.shown, 1)) }
func (f flooded) perSecond() float64       { return float64(len(f.times)) / loadLasts.Seconds() }

// flood changes the statuses of all Deployments on all members for a while, and sees when the
// hub shows it. Each change has a number. The Deployments are as they were when it returns.
func (b *bench) flood(ctx context.Context, s screen, hub *slowHub) (found flooded, err error) {
	client, err := dynamic.NewForConfig(b.fleet.Hub().RESTConfig())
	if err != nil {
		return found, err
	}
	c := newChanges()
	watching, stop := context.WithCancel(ctx)
	watched, watching := errgroup.WithContext(watching)
	see := func(_ watch.EventType, u *unstructured.Unstructured) error {
		for name, number := range s.shown(u) {
			c.show(deployment(s.member(u), s.namespace, name), number)
		}
		return nil
	}
	watched.Go(func() error { return fleet.Follow(watching, client.Resource(s.resource).Namespace(hubNamespace), see) })
	defer func() {
		stop()
		err = errors.Join(err, watched.Wait(), b.unstall(ctx, s.namespace))
	}()
	hub.begin()
	if err := b.stallAll(ctx, s.namespace, c); err != nil {
		return found, err
	}
	if err := c.wait(ctx); err != nil {
		return found, err
	}
	time.Sleep(trailing)
	found.times, found.shown = c.end()
	found.writes = hub.written(s.userAgent)
	return found, nil
}

// stallAll has a worker for each Deployment that writes one change after the other.
func (b *bench) stallAll(ctx context.Context, namespace string, c *changes) error {
	places := b.deploymentsIn(namespace)
	apart := time.Second / floodRate
	loading, ctx := errgroup.WithContext(ctx)
	for i, at := range places {
		loading.Go(func() error {
			time.Sleep(apart * time.Duration(i)) // so that changes do not come in bursts
			number := 0
			return every(ctx, apart*time.Duration(len(places)), loadLasts, func() error {
				number++
				c.begin(at, number)
				return b.stall(ctx, at, metav1.ConditionTrue, fmt.Sprintf("change %d", number))
			})
		})
	}
	return loading.Wait()
}

// unstall takes back what stallAll has written.
func (b *bench) unstall(ctx context.Context, namespace string) error {
	for _, at := range b.deploymentsIn(namespace) {
		if err := b.stall(ctx, at, metav1.ConditionFalse, ""); err != nil {
			return err
		}
	}
	return nil
}

// deploymentsIn are all Deployments in a namespace of the members, neighbours on different ones.
func (b *bench) deploymentsIn(namespace string) []place {
	var places []place
	for i := range measuredDeployments {
		for _, m := range b.fleet.Members() {
			places = append(places, deployment(m.Name(), namespace, fmt.Sprintf("d%d", i)))
		}
	}
	return places
}

// every does something at intervals for a time.
func every(ctx context.Context, interval, lasts time.Duration, do func() error) error {
	err := wait.PollUntilContextTimeout(ctx, interval, lasts, true, func(context.Context) (bool, error) { return false, do() })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// changes are those of a flood, from when they begin until the hub shows them.
type changes struct {
	mu     sync.Mutex
	locked struct {
		waiting map[place][]change // in the order of their numbers
		times   []time.Duration
	}
}

type change struct {
	number int
	began  time.Time
}

func newChanges() *changes {
	c := &changes{}
	c.locked.waiting = map[place][]change{}
	return c
}

func (c *changes) begin(at place, number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked.waiting[at] = append(c.locked.waiting[at], change{number, time.Now()})
}

// show notes that the hub shows a change, and with it all that came before.
func (c *changes) show(at place, number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := c.locked.waiting[at]
	for len(waiting) > 0 && waiting[0].number <= number {
		c.locked.times = append(c.locked.times, time.Since(waiting[0].began))
		waiting = waiting[1:]
	}
	c.locked.waiting[at] = waiting
}

// wait returns when all changes are shown, or when that takes too long.
func (c *changes) wait(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, showLimit, true, func(context.Context) (bool, error) {
		return c.allShown(), nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

func (c *changes) allShown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, waiting := range c.locked.waiting {
		if len(waiting) > 0 {
			return false
		}
	}
	return true
}

// end returns the times of all changes, and how many were shown. The others count as if they
// were shown now.
func (c *changes) end() (times []time.Duration, shown int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	times, shown = c.locked.times, len(c.locked.times)
	for _, waiting := range c.locked.waiting {
		for _, w := range waiting {
			times = append(times, time.Since(w.began))
		}
	}
	return times, shown
}

// memberOfBinding is the member of a binding of the measured layer.
func memberOfBinding(binding *unstructured.Unstructured) string {
	if layer, _, _ := unstructured.NestedString(binding.Object, "spec", "layer", "name"); layer != measured {
		return ""
	}
	member, _, _ := unstructured.NestedString(binding.Object, "spec", "member")
	return member
}

var changeText = regexp.MustCompile(`\bchange (\d+)`)

// numberIn is the number of the change that a message tells of; 0 if none.
func numberIn(message string) int {
	found := changeText.FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	number, _ := strconv.Atoi(found[1]) // digits, and not many
	return number
}

// changesInBinding are found in what it says is wrong with objects.
func changesInBinding(binding *unstructured.Unstructured) map[string]int {
	numbers := map[string]int{}
	problems, _, _ := unstructured.NestedSlice(binding.Object, "status", "problems")
	for _, p := range problems {
		problem, _ := p.(map[string]any)
		object, _ := problem["object"].(string)
		message, _ := problem["message"].(string)
		if number := numberIn(message); number > 0 {
			numbers[path.Base(object)] = number
		}
	}
	return numbers
}

// changesInReport are what direct has written.
func changesInReport(report *unstructured.Unstructured) map[string]int {
	numbers := map[string]int{}
	written, _, _ := unstructured.NestedMap(report.Object, "status", "changes")
	for name, n := range written {
		if number, is := n.(int64); is {
			numbers[name] = int(number)
		}
	}
	return numbers
}
