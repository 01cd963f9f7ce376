package shard

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"
)

// Of is the shard of a member. It is a function of the two arguments alone, the same in all
// versions: replicas that differ in it would both write to a member.
func Of(member types.NamespacedName, shards int) int {
	return int(xxhash.Sum64String(member.String()) % uint64(shards))
}

// Peer is a live replica, as assignment sees it.
type Peer struct {
	// Name tells the peer from all others.
	Name string
	// Weight is its share relative to others'; at least 1.
	Weight int
}

// Assign says which peer is to own each shard, given who holds it now. Holders has an
// element per shard: the name of its holder, or anything else if no peer holds it. The
// result is all empty if there are no peers, and depends on nothing but the arguments:
// neither on the order of peers nor on who asks.
//
// Every peer gets its share of the shards by weight, rounded down or up: with equal weights,
// loads differ by at most one. Within that, as many shards as possible stay where they are.
// Those that cannot go by rendezvous hashing: the pairs of a shard without a place and a peer
// with room are taken from the highest score to the lowest. To take a pair out of such a
// matching changes no other pair of it; so replicas that see a move half done want the same
// rest of it.
func Assign(peers []Peer, holders []string) []string {
	owners := make([]string, len(holders))
	if len(peers) == 0 {
		return owners
	}
	room := quotas(peers, holders)
	for _, s := range fromDearest(holders) {
		if holder := holders[s]; room[holder] > 0 {
			owners[s] = holder
			room[holder]--
		}
	}
	for _, bid := range bids(owners, room) {
		if owners[bid.shard] == "" && room[bid.peer] > 0 {
			owners[bid.shard] = bid.peer
			room[bid.peer]--
		}
	}
	return owners
}

// quotas is how many shards each peer is to own. Of the shares that are no whole numbers,
// those are rounded up first whose peers hold that much, then those that lose most by being
// rounded down.
func quotas(peers []Peer, holders []string) map[string]int {
	held := map[string]int{}
	for _, holder := range holders {
		held[holder]++
	}
	total := 0
	for _, p := range peers {
		total += p.Weight
	}
	quota := make(map[string]int, len(peers))
	left := len(holders)
	for _, p := range peers {
		quota[p.Name] = len(holders) * p.Weight / total
		left -= quota[p.Name]
	}
	urgency := func(p Peer) int {
		rest := len(holders) * p.Weight % total
		if rest > 0 && held[p.Name] > quota[p.Name] {
			return rest + total
		}
		return rest
	}
	first := slices.SortedFunc(slices.Values(peers), func(a, b Peer) int {
		return cmp.Or(cmp.Compare(urgency(b), urgency(a)), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range first[:left] {
		quota[p.Name]++
	}
	return quota
}

// bid is a peer's claim to a shard. Scores are as good as random, but the same everywhere.
type bid struct {
	score uint64
	shard int
	peer  string
}

func score(peer string, shard int) uint64 {
	return xxhash.Sum64(binary.BigEndian.AppendUint32([]byte(peer), uint32(shard)))
}

func higher(a, b bid) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.shard, b.shard), cmp.Compare(a.peer, b.peer))
}

// fromDearest lists the shards, from those that score highest with their holders. A holder
// with too many gives away the others.
func fromDearest(holders []string) []int {
	dear := make([]bid, len(holders))
	for s, holder := range holders {
		dear[s] = bid{score(holder, s), s, holder}
	}
	slices.SortFunc(dear, higher)
	shards := make([]int, len(dear))
	for i, b := range dear {
		shards[i] = b.shard
	}
	return shards
}

// bids are those of all peers with room to all shards without an owner, highest first.
func bids(owners []string, room map[string]int) []bid {
	var all []bid
	for _, peer := range slices.Sorted(maps.Keys(room)) {
		if room[peer] == 0 {
			continue
		}
		for s, owner := range owners {
			if owner == "" {
				all = append(all, bid{score(peer, s), s, peer})
			}
		}
	}
	slices.SortFunc(all, higher)
	return all
}
