package member

import (
	"context"
	"errors"
	"sync/atomic"
)

var (
	// ErrNotOwner means that this replica does not own the member, or ceased to while a
	// write was under way. Whether such a write was executed is unknown.
	ErrNotOwner = errors.New("this replica does not own the member")
	// ErrPaused means that writing to the member is paused. Nothing was sent.
	ErrPaused = errors.New("writing is paused")
)

// Admission admits writes to one member. shard.Admission is one.
type Admission interface {
	// Begin admits one write, or fails with ErrNotOwner. The write is sent with the context
	// that it returns, which ends with ownership at the latest, with ErrNotOwner for its
	// cause, and knows the write's epoch (WithEpoch). Begin is asked before every write, by
	// many goroutines, and must not block. A context that has an epoch already is admitted in
	// that one alone: what was decided under an earlier ownership is not done under a later.
	//
	// Done is called once, when the write has ended. It was answered if the member has sent
	// the head of a response, or if nothing was sent: of any other write nobody knows
	// whether the member will execute it yet.
	Begin(ctx context.Context) (write context.Context, done func(answered bool), err error)
}

// epochKey is the key of a write's epoch in its context.
type epochKey struct{}

// WithEpoch returns a context for writes of an epoch of ownership.
func WithEpoch(ctx context.Context, epoch int) context.Context {
	return context.WithValue(ctx, epochKey{}, epoch)
}

// EpochOf is the epoch of a write; false if it has none.
func EpochOf(ctx context.Context) (int, bool) {
	epoch, known := ctx.Value(epochKey{}).(int)
	return epoch, known
}

// Gate stops writes while they are paused. One gate is for the whole federation, and each
// member has its own.
//
// A new gate is shut. It opens when it is told that nothing is paused: a manager that has
// just started must not write before it has seen the red button.
type Gate struct {
	what  string
	state atomic.Int32
}

const (
	gateUntold = iota
	gateOpen
	gatePaused
)

// NewGate returns a gate. What names the object whose spec.paused the gate follows, as in
// "Federation default".
func NewGate(what string) *Gate { return &Gate{what: what} }

// SetPaused shuts or opens the gate, and reports whether that was a change. Writes under
// way are not stopped.
func (g *Gate) SetPaused(paused bool) (changed bool) {
	next := int32(gateOpen)
	if paused {
		next = gatePaused
	}
	return g.state.Swap(next) != next
}

// Check fails with ErrPaused while the gate is shut.
func (g *Gate) Check() error {
	switch g.state.Load() {
	case gateOpen:
		return nil
	case gatePaused:
		return &refusal{ErrPaused, "by " + g.what}
	default:
		return &refusal{ErrPaused, "until " + g.what + " has been read"}
	}
}

// gated is an admission behind gates.
type gated struct {
	Admission
	gates []*Gate
}

// Begin implements Admission.
func (g gated) Begin(ctx context.Context) (context.Context, func(answered bool), error) {
	for _, gate := range g.gates {
		if err := gate.Check(); err != nil {
			return nil, nil, err
		}
	}
	return g.Admission.Begin(ctx)
}
