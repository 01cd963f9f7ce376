package sim

import (
	"context"
	"sync/atomic"
)

// gate can be shut for a while. The zero gate is open. It is asked before almost everything
// that a replica does: one that is open costs a glance.
type gate struct {
	barrier atomic.Pointer[chan struct{}] // closed by open; nil of an open gate
}

func (g *gate) shut() {
	barrier := make(chan struct{})
	g.barrier.CompareAndSwap(nil, &barrier)
}

func (g *gate) open() {
	if barrier := g.barrier.Swap(nil); barrier != nil {
		close(*barrier)
	}
}

// pass returns when the gate is open.
func (g *gate) pass() {
	for barrier := g.barrier.Load(); barrier != nil; barrier = g.barrier.Load() {
		<-*barrier
	}
}

// passWithin returns when the gate is open, or why ctx has ended before.
func (g *gate) passWithin(ctx context.Context) error {
	for barrier := g.barrier.Load(); barrier != nil; barrier = g.barrier.Load() {
		select {
		case <-*barrier:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
