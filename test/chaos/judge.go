package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// violation is a write to a member that must not have been.
type violation struct {
	at   time.Time
	what string
}

func objection(w write, format string, args ...any) violation {
	return violation{at: w.received, what: fmt.Sprintf("%s: %s", w, fmt.Sprintf(format, args...))}
}

// oneWriter holds what a member's audit log has of our writes against the law of one writer,
// and needs to know nothing else:
//
//   - every write bears an epoch, and an epoch belongs to one replica,
//   - in the order in which the server received them, epochs never go back,
//   - no write comes while one of an earlier epoch is under way.
func oneWriter(writes []write) []violation {
	h := hearing{replicas: map[int]string{}}
	for _, w := range slices.SortedStableFunc(slices.Values(writes), func(a, b write) int { return a.received.Compare(b.received) }) {
		h.hear(w)
	}
	return h.found
}

// hearing is what is known after some of the writes, in the order of their arrival.
type hearing struct {
	replicas map[int]string // by epoch
	newest   write          // the first of the highest epoch
	longest  write          // the one that ended last
	earlier  write          // the one of earlier epochs than the highest that ended last
	found    []violation
}

func (h *hearing) hear(w write) {
	if w.epoch == 0 {
		h.found = append(h.found, objection(w, "it bears no epoch"))
		return
	}
	if _, known := h.replicas[w.epoch]; !known {
		h.replicas[w.epoch] = w.replica
	}
	if first := h.replicas[w.epoch]; first != w.replica {
		h.found = append(h.found, objection(w, "%s has written in the same epoch", first))
	}
	if w.hollow {
		return
	}
	if w.epoch > h.newest.epoch {
		h.newest, h.earlier = w, h.longest
	}
	if w.epoch < h.newest.epoch {
		h.found = append(h.found, objection(w, "epochs go back: before it came %s", h.newest))
	} else if w.received.Before(h.earlier.ended) {
		h.found = append(h.found, objection(w, "another was under way: %s", h.earlier))
	}
	if w.ended.After(h.longest.ended) {
		h.longest = w
	}
}

// withinTenures holds writes to a member against the tenures of the member's shard: a write
// comes in the tenure of its epoch, and has ended before the next one began. That also finds
// writes of a replica that had lost the member to one that had nothing to write.
func withinTenures(writes []write, tenures []*tenure) []violation {
	byEpoch := func(a, b *tenure) int { return cmp.Compare(a.epoch, b.epoch) }
	tenures = slices.SortedFunc(slices.Values(tenures), byEpoch)
	var found []violation
	for _, w := range writes {
		if w.epoch == 0 || w.hollow {
			continue
		}
		i, has := slices.BinarySearchFunc(tenures, &tenure{epoch: w.epoch}, byEpoch)
		if !has {
			found = append(found, objection(w, "no replica has had the member's shard in this epoch"))
			continue
		}
		var next *tenure
		if i+1 < len(tenures) {
			next = tenures[i+1]
		}
		if why := tenures[i].forbids(w, next); why != "" {
			found = append(found, objection(w, "%s", why))
		}
	}
	return found
}
