package sim

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

var leaseResource = schema.GroupResource{Group: coordinationv1.GroupName, Resource: "leases"}

// hub is a Lease API in memory, with an API server's rules for versions. Its calls take no
// time and never fail of themselves: access adds that.
type hub struct {
	mu     sync.Mutex
	locked lockedHub
}

type lockedHub struct {
	version int
	leases  map[string]*coordinationv1.Lease // never changed once they are in
	history []change                         // by version
	more    chan struct{}                    // closed when history has grown
	writes  int
}

type change struct {
	watch.Event
	version int
	at      time.Time
}

func newHub() *hub {
	return &hub{locked: lockedHub{leases: map[string]*coordinationv1.Lease{}, more: make(chan struct{})}}
}

// commit puts a Lease's next version in; nil deletes it.
func (l *lockedHub) commit(name string, next *coordinationv1.Lease) *coordinationv1.Lease {
	l.version++
	l.writes++
	last := l.leases[name]
	kind := watch.Modified
	if last == nil {
		kind = watch.Added
	}
	if next != nil {
		l.leases[name] = next
	} else {
		kind = watch.Deleted
		next = last.DeepCopy()
		delete(l.leases, name)
	}
	next.ResourceVersion = strconv.Itoa(l.version)
	l.history = append(l.history, change{watch.Event{Type: kind, Object: next}, l.version, time.Now()})
	close(l.more)
	l.more = make(chan struct{})
	return next
}

func (h *hub) create(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.locked.leases[lease.Name] != nil {
		return nil, apierrors.NewAlreadyExists(leaseResource, lease.Name)
	}
	next := *lease
	next.UID = types.UID(fmt.Sprint("uid-", h.locked.version))
	return h.locked.commit(lease.Name, &next), nil
}

func (h *hub) update(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.locked.leases[lease.Name]
	switch {
	case last == nil:
		return nil, apierrors.NewNotFound(leaseResource, lease.Name)
	case last.ResourceVersion != lease.ResourceVersion || last.UID != lease.UID:
		return nil, apierrors.NewConflict(leaseResource, lease.Name, fmt.Errorf("is at %s, not %s", last.ResourceVersion, lease.ResourceVersion))
	}
	next := *lease
	return h.locked.commit(lease.Name, &next), nil
}

func (h *hub) delete(name string, only *metav1.Preconditions) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.locked.leases[name]
	switch {
	case last == nil:
		return apierrors.NewNotFound(leaseResource, name)
	case only != nil && (*only.UID != last.UID || *only.ResourceVersion != last.ResourceVersion):
		return apierrors.NewConflict(leaseResource, name, fmt.Errorf("is at %s", last.ResourceVersion))
	}
	h.locked.commit(name, nil)
	return nil
}

func (h *hub) get(name string) (*coordinationv1.Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if lease := h.locked.leases[name]; lease != nil {
		return lease, nil
	}
	return nil, apierrors.NewNotFound(leaseResource, name)
}

func (h *hub) list() *coordinationv1.LeaseList {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := &coordinationv1.LeaseList{}
	list.ResourceVersion = strconv.Itoa(h.locked.version)
	for _, lease := range h.locked.leases {
		list.Items = append(list.Items, *lease)
	}
	return list
}

// count is the number of Leases whose names have a prefix.
func (h *hub) count(prefix string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for name := range h.locked.leases {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// since is what changed after a version, and a channel that is closed when more has.
func (h *hub) since(version int) ([]change, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.locked.history[version:], h.locked.more
}

func (h *hub) writes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.locked.writes
}

// feed is a watch as one process has it.
type feed struct {
	results chan watch.Event
	cancel  context.CancelFunc
}

func (f *feed) ResultChan() <-chan watch.Event { return f.results }
func (f *feed) Stop()                          { f.cancel() }
