package sim

import (
	"fmt"
	"slices"
)

// memberships begins the names of replicas' Leases.
const memberships = "syncline-replica-"

// The laws that hold in calm. None of them asks the code that is tested how it decides.

// unsettled is what is not yet as it should be in calm; empty if all is well.
func (w *world) unsettled() string {
	if n := w.hub.count(memberships); n != len(w.replicas) {
		return fmt.Sprintf("%d replicas are taken for alive, and %d live", n, len(w.replicas))
	}
	if n := w.owned(); n != w.shards {
		return fmt.Sprintf("%d of %d shards have an owner", n, w.shards)
	}
	for _, l := range w.members {
		var owners, expecting []string
		for _, r := range w.replicas {
			if _, owned := r.shard.Owns(l.key); owned {
				owners = append(owners, r.name)
			}
			if r.shard.Expects(l.key) {
				expecting = append(expecting, r.name)
			}
		}
		served, engagements := l.servedBy()
		if len(owners) != 1 || engagements != 1 || !slices.Equal(owners, served) {
			return fmt.Sprintf("%s is owned by %q and engaged %d times by %q", l.key, owners, engagements, served)
		}
		if !slices.Equal(owners, expecting) {
			return fmt.Sprintf("%s is owned by %q and expected by %q", l.key, owners, expecting)
		}
	}
	return w.unbalanced()
}

// holders are the identities on the shards' Leases, and loads how many each has.
func (w *world) holders() (holders []string, loads map[string]int) {
	holders, loads = make([]string, w.shards), map[string]int{}
	for i := range holders {
		if lease, err := w.hub.get(fmt.Sprintf("syncline-shard-%04d", i)); err == nil && lease.Spec.HolderIdentity != nil {
			holders[i] = *lease.Spec.HolderIdentity
			loads[holders[i]]++
		}
	}
	return holders, loads
}

// unwritten is a member that its owner has not written to yet; empty if there is none.
func (w *world) unwritten() string {
	for _, l := range w.members {
		for _, r := range w.replicas {
			if own, owned := r.shard.Owns(l.key); owned && !l.writtenBy(r.name, own.Epoch) {
				return fmt.Sprintf("%s owns %s in epoch %d and does not write to it", r.name, l.key, own.Epoch)
			}
		}
	}
	return ""
}

// share is the part of the shards that a replica is to have: that many, or one more if there is
// a rest.
func (w *world) share(r *replica) (low int, rest bool) {
	total := 0
	for _, other := range w.replicas {
		total += other.weight
	}
	return w.shards * r.weight / total, w.shards*r.weight%total != 0
}

// unbalanced says whose load is not its share, rounded down or up.
func (w *world) unbalanced() string {
	_, loads := w.holders()
	for _, r := range w.replicas {
		low, rest := w.share(r)
		if n := loads[r.name]; n != low && (!rest || n != low+1) {
			return fmt.Sprintf("%s with weight %d has %d of %d shards", r.name, r.weight, n, w.shards)
		}
	}
	return ""
}

// leastMoves is how many shards have to move until loads are balanced, from what they were. A
// replica keeps what it had up to its share. Shares that are not whole numbers are rounded
// up for as many as that takes, each of which keeps one more if it had that much.
func (w *world) leastMoves(loads map[string]int) int {
	kept, roundedUp, keepMore := 0, w.shards, 0
	for _, r := range w.replicas {
		low, rest := w.share(r)
		kept += min(loads[r.name], low)
		roundedUp -= low
		if rest && loads[r.name] > low {
			keepMore++
		}
	}
	return w.shards - kept - min(roundedUp, keepMore)
}
