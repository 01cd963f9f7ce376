package shard

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func failing(lease string) func(call) error {
	return func(c call) error {
		if c.lease == lease {
			return errors.New("timeout")
		}
		return nil
	}
}

func TestALeaseThatIsNewIsRespectedAsIfHeld(t *testing.T) {
	s := newStage(t, ReplicaConfig{}).begin()
	s.pass(14 * time.Second)
	s.holds()
	s.pass(time.Second)
	s.holds(0, 1)
}

func TestALeaseThatWasGivenBackIsTakenAtOnce(t *testing.T) {
	s := newStage(t, ReplicaConfig{})
	for shard := range 2 {
		s.hold(shardLeaseName(shard), "", 7)
	}
	s.put(shardLeaseName(1), func(l *coordinationv1.Lease) { l.Annotations = map[string]string{releasedAnnotation: "7"} })
	s.begin()
	s.holds(1)
	if epoch := s.m.shards[1].held; epoch != 8 {
		t.Errorf("in epoch %d, want 8", epoch)
	}
	s.pass(14 * time.Second)
	s.holds(1) // of the other only the holder is missing: a person may have removed it
	s.pass(time.Second)
	s.holds(0, 1)
}

func TestOneFailedRenewalIsNoLoss(t *testing.T) {
	s := alone(t)
	s.fails = failing(shardLeaseName(0))
	s.pass(7 * time.Second)
	s.holds(0, 1)
	s.fails = nil
	s.pass(30 * time.Second)
	s.holds(0, 1)
	for _, o := range s.orders {
		if o.verb != extendTenure {
			t.Errorf("order %+v, want extensions only", o)
		}
	}
}

func TestTheRenewDeadlineIsALoss(t *testing.T) {
	s := alone(t)
	s.fails = failing(shardLeaseName(0))
	s.pass(10 * time.Second)
	s.holds(1)
	s.fails = nil
	s.pass(3 * time.Second)
	s.holds(1) // writes that were cut off may still arrive
	s.pass(4 * time.Second)
	s.holds(0, 1)
	if last := s.m.shards[0]; last.held <= 1 {
		t.Errorf("is held again in epoch %d, as before", last.held)
	}
}

// A renewal whose success is heard after the loss must not bring the tenure back: its writes
// were cut off, and may still arrive.
func TestALateRenewalBeginsNothing(t *testing.T) {
	s := alone(t)
	s.pass(1500 * time.Millisecond)
	s.held = func(c call) bool { return c.lease == shardLeaseName(0) }
	s.pass(11 * time.Second)
	s.holds(1)
	for _, end := range s.late {
		end()
	}
	s.held = nil
	s.settle()
	s.holds(1)
}

func TestWhatAnotherHoldsIsLostAtOnce(t *testing.T) {
	s := alone(t)
	s.hold(shardLeaseName(0), "b_1", 9)
	s.settle()
	s.holds(1)
	s.remove(shardLeaseName(1))
	s.settle()
	s.holds()
	s.pass(10 * time.Second)
	s.holds()
	s.pass(10 * time.Second)
	s.holds(0, 1)
	if epoch := s.m.shards[1].held; epoch <= 9 {
		t.Errorf("the deleted Lease begins anew in epoch %d", epoch)
	}
}

// A person writes our name into a Lease, in the very epoch that we tried to begin and another
// began.
func TestANameWrittenByAPersonIsNoClaim(t *testing.T) {
	s := newStage(t, ReplicaConfig{Shards: 1})
	s.hold(shardLeaseName(0), "b_1", 1)
	s.fails = failing(shardLeaseName(0))
	s.begin()
	s.pass(16 * time.Second)
	s.fails = nil
	s.hold(shardLeaseName(0), "c_1", s.m.shards[0].claimed)
	s.hold(shardLeaseName(0), "a_1", s.m.shards[0].claimed)
	s.settle()
	s.pass(14 * time.Second)
	s.holds()
	s.pass(2 * time.Second)
	s.holds(0)
}

// F16: what other machines' clocks say is for people.
func TestForeignClocksAreNotCompared(t *testing.T) {
	for _, ahead := range []time.Duration{-90 * time.Second, 90 * time.Second} {
		s := newStage(t, ReplicaConfig{Shards: 1})
		renew := func(l *coordinationv1.Lease) {
			at := metav1.NewMicroTime(s.now.Add(ahead))
			l.Spec.RenewTime = &at
		}
		s.hold(shardLeaseName(0), "b_1", 1)
		s.begin()
		for range 10 {
			s.put(shardLeaseName(0), renew)
			s.pass(2 * time.Second)
			s.holds()
		}
		s.pass(12 * time.Second)
		s.holds()
		s.pass(time.Second)
		s.holds(0)
	}
}

// join makes another replica a member.
func (s *stage) join(name string) {
	s.put(replicaLeaseName(name), func(l *coordinationv1.Lease) {
		l.Spec.HolderIdentity = ptr.To(name + "_1")
		l.Annotations = map[string]string{shardsAnnotation: "2", weightAnnotation: "1"}
	})
}

func (s *stage) last(verb orderVerb) *order {
	for i := len(s.orders) - 1; i >= 0; i-- {
		if s.orders[i].verb == verb {
			return &s.orders[i]
		}
	}
	return nil
}

func TestAMomentOfDisagreementMovesNothing(t *testing.T) {
	s := alone(t)
	s.join("b")
	s.settle()
	s.pass(100 * time.Millisecond)
	s.remove(replicaLeaseName("b"))
	s.pass(10 * time.Second)
	if s.holds(0, 1); s.last(closeTenure) != nil {
		t.Error("a shard was handed over")
	}
}

// Whoever is to have a shard knows it before its holder gives it back, and the holder waits for
// a while.
func TestAShardIsExpectedBeforeItIsHandedOver(t *testing.T) {
	joins := func(s *stage) { s.join("b") }
	stops := func(s *stage) {
		joins(s)
		s.settle()
		s.m.stop(s.now)
	}
	for name, c := range map[string]struct {
		begin   func(*stage)
		members int
		first   time.Duration // hand-over, and the last
		last    time.Duration
	}{
		"another joins":                  {joins, 1, 500 * time.Millisecond, 500 * time.Millisecond},
		"another joins, without members": {joins, 0, time.Second, 2 * time.Second},
		"this one stops":                 {stops, 1, 200 * time.Millisecond, 200 * time.Millisecond},
		"this one stops, without any":    {stops, 0, 700 * time.Millisecond, 1700 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := alone(t)
			s.m.members = []int{c.members, c.members}
			c.begin(s)
			s.settle()
			s.pass(c.first - time.Millisecond)
			if closed := s.last(closeTenure); closed != nil {
				t.Fatalf("shard %d was kept for too short a while", closed.shard)
			}
			s.pass(c.last - c.first + time.Millisecond)
			if s.last(closeTenure) == nil {
				t.Error("nothing is handed over")
			}
		})
	}
	s := newStage(t, ReplicaConfig{})
	s.join("b")
	s.hold(replicaLeaseName("b"), "b_1", 1)
	s.hold(shardLeaseName(0), "b_1", 2)
	s.hold(shardLeaseName(1), "b_1", 3)
	s.begin()
	if expected := fmt.Sprint(s.expected); expected != "[true false]" && expected != "[false true]" {
		t.Errorf("of two shards that another holds it expects %s", expected)
	}
	s.holds()
}

func TestAHandOverWaitsForWrites(t *testing.T) {
	s := alone(t)
	s.join("b")
	s.settle()
	s.pass(2 * time.Second)
	closed := s.last(closeTenure)
	if closed == nil {
		t.Fatal("nothing is handed over")
	}
	lease := shardLeaseName(closed.shard)
	s.pass(time.Second)
	if *s.leases[lease].Spec.HolderIdentity == "" {
		t.Fatal("is given back while a write is under way")
	}
	s.m.drained(closed.shard, closed.epoch, time.Time{})
	s.settle()
	if *s.leases[lease].Spec.HolderIdentity != "" || s.leases[lease].Annotations[releasedAnnotation] == "" {
		t.Error("is not given back when no write is under way")
	}
	if s.last(cutTenure) != nil {
		t.Error("a write was cut off")
	}
}

// Nothing is cut off, and nothing is given back; but the Lease is not renewed, so that others
// can take it.
func TestAHandOverThatHangsLetsTheLeaseRunOut(t *testing.T) {
	s := alone(t)
	s.join("b")
	s.settle()
	s.pass(2 * time.Second)
	lease := shardLeaseName(s.last(closeTenure).shard)
	before := s.leases[lease].ResourceVersion
	s.pass(14 * time.Second)
	if s.leases[lease].ResourceVersion != before || s.last(cutTenure) != nil {
		t.Error("it was renewed, given back or cut off")
	}
}

func TestAnUnansweredWriteMayStillArrive(t *testing.T) {
	s := alone(t)
	s.join("b")
	s.settle()
	s.pass(2 * time.Second)
	closed := s.last(closeTenure)
	s.m.drained(closed.shard, closed.epoch, s.now)
	s.pass(4 * time.Second)
	if s.last(handedOver) != nil {
		t.Error("given back while a write that was given up may arrive")
	}
	s.pass(time.Second)
	if s.last(handedOver) == nil {
		t.Error("not given back afterwards")
	}
}

func TestACleanStop(t *testing.T) {
	s := alone(t)
	s.m.stop(s.now)
	s.settle()
	for _, o := range s.orders {
		if o.verb == closeTenure {
			s.m.drained(o.shard, o.epoch, time.Time{})
		}
	}
	s.settle()
	if !s.m.stopped() || s.leases[replicaLeaseName("a")] != nil {
		t.Errorf("stopped: %v; Leases: %v", s.m.stopped(), s.leases)
	}
	for shard := range 2 {
		if holder := *s.leases[shardLeaseName(shard)].Spec.HolderIdentity; holder != "" {
			t.Errorf("shard %d is left to %s", shard, holder)
		}
	}
	if got := s.leases[recordName].Annotations; got[epochAnnotation] != strconv.Itoa(s.m.highest) || got[shardsAnnotation] != "2" {
		t.Errorf("the record says %v, want 2 shards and epoch %d", got, s.m.highest)
	}
}

func TestTheNumberOfShardsMustAgree(t *testing.T) {
	record := func(s *stage, n string) {
		s.put(recordName, func(l *coordinationv1.Lease) { l.Annotations = map[string]string{shardsAnnotation: n} })
	}
	s := newStage(t, ReplicaConfig{})
	record(s, "64")
	if s.begin(); !errors.Is(s.m.failure(), ErrShardCount) {
		t.Errorf("starts beside another number: %v", s.m.failure())
	}

	s = newStage(t, ReplicaConfig{Shards: 3})
	s.join("b") // with 2; the record was deleted
	if s.begin(); !errors.Is(s.m.failure(), ErrShardCount) {
		t.Errorf("starts beside a replica with another number: %v", s.m.failure())
	}

	s = alone(t)
	record(s, "64")
	s.settle()
	s.pass(2 * time.Second)
	if s.holds(); s.m.failure() != nil || !errors.Is(s.m.refusal, ErrShardCount) {
		t.Errorf("a person changed the record: failure %v, refusal %v", s.m.failure(), s.m.refusal)
	}
	for shard := range 2 {
		s.m.drained(shard, s.m.shards[shard].held, time.Time{})
	}
	record(s, "2")
	s.pass(3 * time.Second)
	s.holds(0, 1)

	s.remove(recordName)
	s.settle()
	s.holds(0, 1)
	if s.leases[recordName] == nil {
		t.Error("the record is not written again")
	}
}

func TestTheSecondOfANameWaits(t *testing.T) {
	s := newStage(t, ReplicaConfig{})
	for shard := range 2 {
		s.hold(shardLeaseName(shard), "a_0", 1)
	}
	s.hold(replicaLeaseName("a"), "a_0", 1)
	s.begin()
	for range 20 {
		s.pass(2 * time.Second)
		s.hold(replicaLeaseName("a"), "a_0", 1)
		if s.holds(); !errors.Is(s.m.rival, errNameTaken) {
			t.Fatalf("waits for %v", s.m.rival)
		}
	}
	s.pass(14 * time.Second)
	s.holds()
	s.pass(2 * time.Second)
	if s.holds(0, 1); s.m.rival != nil {
		t.Errorf("waits for %v", s.m.rival)
	}
}

// People have deleted all Leases while no replica ran; members remember.
func TestAnEpochThatMembersKnowIsSurpassed(t *testing.T) {
	s := alone(t)
	s.m.surpass(s.now, 0, 40)
	s.m.surpass(s.now, 1, 0)
	s.settle()
	s.holds(1)
	s.m.drained(0, s.m.shards[0].held, time.Time{})
	s.settle()
	if s.holds(0, 1); s.m.shards[0].held != 41 || s.m.shards[1].held > 2 {
		t.Errorf("owned in the epochs %d and %d", s.m.shards[0].held, s.m.shards[1].held)
	}
}

func TestAHolderThatDoesNotRenewOwnsNothing(t *testing.T) {
	s := newStage(t, ReplicaConfig{})
	s.join("b")
	s.hold(shardLeaseName(0), s.m.peers[replicaLeaseName("b")].holder(), 1)
	s.begin()
	if got := s.m.holdings[0].Replica; got != "b" {
		t.Fatalf("held by %q", got)
	}
	for range 8 {
		s.pass(2 * time.Second)
		s.join("b") // which lives, and has stopped renewing the shard's Lease
	}
	if got := s.m.holdings[0].Replica; got == "b" {
		t.Errorf("still held by %q", got)
	}
}

func TestTheLeaseOfADeadReplicaIsRemoved(t *testing.T) {
	s := alone(t)
	s.join("b")
	s.pass(16 * time.Second)
	if s.leases[replicaLeaseName("b")] != nil {
		t.Error("it is left")
	}
}

// What was written while a list was under way may be newer than the list.
func TestALateListIsNotARestoredHub(t *testing.T) {
	s := alone(t)
	list := &coordinationv1.LeaseList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, l := range s.leases {
		list.Items = append(list.Items, *l)
	}
	s.m.listing()
	s.pass(3 * time.Second)
	before := s.m.shards[0].version
	s.m.listed(s.now, list)
	s.settle()
	if s.holds(0, 1); s.m.shards[0].version != before {
		t.Error("a list that was late is believed")
	}
}

func TestARestoredHubIsBelieved(t *testing.T) {
	s := alone(t)
	s.version = 3
	s.leases = map[string]*coordinationv1.Lease{}
	s.hold(shardLeaseName(0), "b_1", 1)
	s.begin()
	s.holds()
}
