package main

import (
	"fmt"
	"strings"
	"testing"
)

// told is an ownership of one member with one shard, which is told of everything in the order
// of milliseconds.
type told struct {
	*testing.T
	*ownership
}

func newTold(t *testing.T) told {
	o := newOwnership(1)
	o.joins(at(0), "m")
	return told{t, o}
}

// claims lets a replica own the shard from a time on, and the member say so a moment later.
func (o told) claims(ms int, replica string, epoch int) {
	o.leased(at(ms), tenure{replica: replica, epoch: epoch, began: at(ms), renewed: at(ms)})
	o.stated(at(ms+1), "m", replica, epoch)
}

func (o told) releases(ms, epoch int) {
	o.leased(at(ms), tenure{epoch: epoch, released: at(ms)})
}

// expectGaps wants gaps such as "joined 0-11, 20-31"; one that is open ends at 1000.
func (o told) expectGaps(want string) {
	o.Helper()
	var got []string
	for _, g := range o.gapsSince(at(0), at(1000)) {
		text := fmt.Sprintf("%d-%d", g.from.UnixMilli(), g.to.UnixMilli())
		if g.joined {
			text = "joined " + text
		}
		got = append(got, text)
	}
	if all := strings.Join(got, ", "); all != want {
		o.Errorf("got gaps %q, want %q", all, want)
	}
}

func TestMemberIsOwnedWhenLeaseAndStatusAgree(t *testing.T) {
	o := newTold(t)
	o.leased(at(5), tenure{released: at(5)}) // a Lease that nobody has held yet
	o.stated(at(8), "m", "a", 1)
	o.leased(at(10), tenure{replica: "a", epoch: 1})
	o.expectGaps("joined 0-10")
}

func TestHandOver(t *testing.T) {
	o := newTold(t)
	o.claims(10, "a", 1)
	o.releases(20, 1)
	o.claims(30, "b", 2)
	o.expectGaps("joined 0-11, 20-31")
}

func TestKilled(t *testing.T) {
	o := newTold(t)
	o.claims(10, "a", 1)
	o.fails(at(20), "a")
	o.starts("a") // and holds nothing of what the other held
	o.expectGaps("joined 0-11, 20-1000")
	o.claims(30, "a", 2)
	o.expectGaps("joined 0-11, 20-31")
}

func TestStoppedAndResumedInTime(t *testing.T) {
	o := newTold(t)
	o.claims(10, "a", 1)
	o.fails(at(20), "a")
	o.recovers(at(40), "a")
	o.expectGaps("joined 0-11, 20-40")
}

func TestStoppedAndTakenOver(t *testing.T) {
	o := newTold(t)
	o.claims(10, "a", 1)
	o.fails(at(20), "a")
	o.claims(30, "b", 2)
	o.recovers(at(40), "a")
	o.expectGaps("joined 0-11, 20-31")
}

func TestClaimThatWasUnderWay(t *testing.T) {
	o := newTold(t)
	o.fails(at(5), "a")
	o.claims(10, "a", 1)
	o.expectGaps("joined 0-1000")
	if o.recovers(at(20), "a"); len(o.ownerless()) != 0 {
		t.Errorf("got %v", o.ownerless())
	}
}

func TestMemberThatLeftHasNoGap(t *testing.T) {
	o := newTold(t)
	o.claims(10, "a", 1)
	o.leaves("m")
	o.fails(at(20), "a")
	o.expectGaps("joined 0-11")
	o.joins(at(30), "m")
	o.claims(40, "b", 2)
	o.expectGaps("joined 0-11, joined 30-41")
}

func TestTenuresKeepTheirLastRenewalAndEnd(t *testing.T) {
	o := newTold(t)
	o.claims(10, "a", 1)
	o.leased(at(15), tenure{replica: "a", epoch: 1, renewed: at(15)})
	o.releases(20, 1)
	o.claims(30, "b", 2)
	got := o.tenures("m")
	if len(got) != 2 || !got[0].renewed.Equal(at(15)) || !got[0].end().Equal(at(20)) || got[1].replica != "b" {
		t.Errorf("got %+v", got)
	}
	if loads := o.loads(); len(loads) != 1 || loads["b"] != 1 {
		t.Errorf("got loads %v", loads)
	}
}

func TestTimesOfAClockThatIsAheadAreSetRight(t *testing.T) {
	o := newTold(t)
	o.isAhead("a")
	skew := int(ahead.Milliseconds())
	o.leased(at(10), tenure{replica: "a", epoch: 1, began: at(10 + skew), renewed: at(10 + skew)})
	o.leased(at(20), tenure{epoch: 1, released: at(20 + skew)})
	o.claims(30, "b", 2)
	got := o.tenures("m")
	if len(got) != 2 || !got[0].began.Equal(at(10)) || !got[0].end().Equal(at(20)) || !got[1].began.Equal(at(30)) {
		t.Errorf("got %+v", got)
	}
}
