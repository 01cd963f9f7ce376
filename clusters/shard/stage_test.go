package shard

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// stage drives one machine by hand, against Leases in a map. Calls are executed at once, and
// everything is seen at once, unless a test says otherwise.
type stage struct {
	t       *testing.T
	m       *machine
	now     time.Time
	version int
	leases  map[string]*coordinationv1.Lease
	orders  []order
	// expected is what the machine last said of it.
	expected []bool
	// fails decides on a call; nil lets all succeed.
	fails func(call) error
	// held keeps the end of a call back; nil keeps none.
	held func(call) bool
	late []func()
}

func newStage(t *testing.T, cfg ReplicaConfig) *stage {
	cfg.Name, cfg.Instance = "a", "1"
	cfg.Reader, cfg.Writer = struct{ LeaseReader }{}, struct{ LeaseWriter }{}
	if cfg.Shards == 0 {
		cfg.Shards = 2
	}
	cfg, err := cfg.validated()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, m: newMachine(cfg), now: time.Unix(1_800_000_000, 0), leases: map[string]*coordinationv1.Lease{}}
}

// put is a write by somebody else. The machine sees it.
func (s *stage) put(name string, change func(*coordinationv1.Lease)) {
	s.version++
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if s.leases[name] != nil {
		lease = s.leases[name].DeepCopy()
	}
	change(lease)
	lease.ResourceVersion = strconv.Itoa(s.version)
	s.leases[name] = lease
	s.m.saw(s.now, lease)
}

// hold makes a Lease somebody's, as it would look after a renewal.
func (s *stage) hold(name, holder string, epoch int) {
	s.put(name, func(l *coordinationv1.Lease) {
		l.Spec.HolderIdentity = &holder
		l.Spec.LeaseTransitions = ptr.To(int32(epoch))
		l.Spec.LeaseDurationSeconds = ptr.To[int32](15)
	})
}

func (s *stage) remove(name string) {
	s.version++
	delete(s.leases, name)
	s.m.missed(s.now, name, strconv.Itoa(s.version))
}

// begin gives the machine its first list.
func (s *stage) begin() *stage {
	list := &coordinationv1.LeaseList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, l := range s.leases {
		list.Items = append(list.Items, *l)
	}
	s.m.listing()
	s.m.listed(s.now, list)
	s.settle()
	return s
}

// settle lets the machine do what is due now.
func (s *stage) settle() {
	for range 100 {
		s.m.advance(s.now)
		ready := s.m.take()
		s.orders = append(s.orders, ready.orders...)
		if ready.expected != nil {
			s.expected = ready.expected
		}
		if len(ready.calls) == 0 && len(ready.orders) == 0 {
			return
		}
		for _, o := range ready.orders {
			if o.verb == cutTenure {
				s.m.drained(o.shard, o.epoch, time.Time{})
			}
		}
		for _, c := range ready.calls {
			lease, err := s.execute(c)
			end := func() { s.m.done(s.now, c, lease, err) }
			if s.held != nil && s.held(c) {
				s.late = append(s.late, end)
			} else {
				end()
			}
		}
	}
	s.t.Fatal("the machine does not come to rest")
}

func (s *stage) execute(c call) (*coordinationv1.Lease, error) {
	if s.fails != nil {
		if err := s.fails(c); err != nil {
			return nil, err
		}
	}
	resource := schema.GroupResource{Resource: "leases"}
	last := s.leases[c.lease]
	switch {
	case c.verb == createLease && last != nil:
		return nil, apierrors.NewAlreadyExists(resource, c.lease)
	case c.verb != createLease && last == nil:
		return nil, apierrors.NewNotFound(resource, c.lease)
	case c.verb == getLease:
		return last, nil
	case c.verb != createLease && last.ResourceVersion != c.base.lease.ResourceVersion:
		return nil, apierrors.NewConflict(resource, c.lease, errors.New("is newer"))
	}
	s.version++
	if c.verb == deleteLease {
		delete(s.leases, c.lease)
		return nil, nil
	}
	lease := c.term.over(c.base.lease, s.now)
	lease.ResourceVersion = strconv.Itoa(s.version)
	s.leases[c.lease] = lease
	return lease, nil
}

// pass lets time pass, stopping wherever the machine wants to do something.
func (s *stage) pass(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(min(end.Sub(s.now), max(time.Millisecond, s.m.wake.Sub(s.now))))
		s.settle()
	}
}

// holds checks which shards are held.
func (s *stage) holds(want ...int) {
	s.t.Helper()
	var got []int
	for _, sh := range s.m.shards {
		if sh.phase == held {
			got = append(got, sh.index)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Fatalf("holds %v after %s, want %v", got, s.now.Sub(time.Unix(1_800_000_000, 0)), want)
	}
}

// alone is a stage on which this replica holds both shards.
func alone(t *testing.T) *stage {
	s := newStage(t, ReplicaConfig{}).begin()
	s.pass(16 * time.Second)
	s.holds(0, 1)
	s.orders = nil
	return s
}
