package member

import (
	"errors"
	"sync/atomic"
	"time"
)

var (
	// ErrNotOwner means that this replica does not own the member, or ceased to while a
	// write was under way. Whether such a write was executed is unknown.
	ErrNotOwner = errors.New("this replica does not own the member")
	// ErrPaused means that writing to the member is paused. Nothing was sent.
	ErrPaused = errors.New("writing is paused")
)

// Admission decides whether a write may leave for a member.
type Admission interface {
	// Admit returns until when, by the local monotonic clock, a write may be under way (zero
	// if without end), or why none may leave now. It is asked before every write, by many
	// goroutines, and must not block.
	Admit() (until time.Time, err error)
}

// Ownership says until when this replica owns members. shard.Leadership is one.
type Ownership interface {
	// ValidUntil is the end of ownership by the local monotonic clock; false if there is none.
	ValidUntil() (time.Time, bool)
}

// Owned admits writes while this replica owns the members, and fails with ErrNotOwner
// otherwise.
func Owned(o Ownership) Admission { return owned{o} }

type owned struct{ Ownership }

func (o owned) Admit() (time.Time, error) {
	until, ok := o.ValidUntil()
	if !ok {
		return time.Time{}, ErrNotOwner
	}
	return until, nil
}

// Gate is an Admission that can be paused. Gates stand over one another: what a gate
// admits, all above it admit. One gate is for the whole federation, and each member has
// its own below.
//
// A new gate is shut. It opens when it is told that nothing is paused: a manager that has
// just started must not write before it has seen the red button.
type Gate struct {
	above Admission
	what  string
	state atomic.Int32
}

const (
	gateUntold = iota
	gateOpen
	gatePaused
)

// NewGate returns a gate below another admission. What names the object whose spec.paused
// the gate follows, as in "Federation default".
func NewGate(above Admission, what string) *Gate {
	return &Gate{above: above, what: what}
}

// SetPaused shuts or opens the gate, and reports whether that was a change. Writes under
// way are not stopped.
func (g *Gate) SetPaused(paused bool) (changed bool) {
	next := int32(gateOpen)
	if paused {
		next = gatePaused
	}
	return g.state.Swap(next) != next
}

// Admit implements Admission. What the gate above says comes first.
func (g *Gate) Admit() (time.Time, error) {
	until, err := g.above.Admit()
	if err != nil {
		return time.Time{}, err
	}
	switch g.state.Load() {
	case gateOpen:
		return until, nil
	case gatePaused:
		return time.Time{}, &refusal{ErrPaused, "by " + g.what}
	default:
		return time.Time{}, &refusal{ErrPaused, "until " + g.what + " has been read"}
	}
}
