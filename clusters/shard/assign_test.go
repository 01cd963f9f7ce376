package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// dumbAssign takes one step at a time: who is furthest above its share gives one shard away,
// who is furthest below takes one. It agrees with Assign on how many shards move, not on
// which.
func dumbAssign(peers []Peer, holders []string) []string {
	owners := slices.Clone(holders)
	load := func(name string) (n int) {
		for _, o := range owners {
			if o == name {
				n++
			}
		}
		return n
	}
	total := 0
	for _, p := range peers {
		total += p.Weight
	}
	for s, o := range owners {
		if !slices.ContainsFunc(peers, func(p Peer) bool { return p.Name == o }) {
			owners[s] = ""
		}
	}
	for len(peers) > 0 {
		// Shares are compared in units of 1/total of a shard.
		var over, under *Peer
		for i := range peers {
			p := &peers[i]
			above := func(q *Peer) int { return load(q.Name)*total - len(holders)*q.Weight }
			if over == nil || above(p) > above(over) {
				over = p
			}
			if under == nil || above(p) < above(under) {
				under = p
			}
		}
		s := slices.Index(owners, "")
		switch {
		case s >= 0:
			owners[s] = under.Name
		case load(over.Name)*total-len(holders)*over.Weight >= total,
			load(under.Name)*total-len(holders)*under.Weight <= -total:
			owners[slices.Index(owners, over.Name)] = under.Name
		default:
			return owners
		}
	}
	return owners
}

func randomPeers(random *rand.Rand, n, heaviest int) []Peer {
	peers := make([]Peer, n)
	for i := range peers {
		peers[i] = Peer{Name: fmt.Sprintf("manager-%08x", random.Uint32()), Weight: 1 + random.IntN(heaviest)}
	}
	return peers
}

func loads(owners []string) map[string]int {
	n := map[string]int{}
	for _, o := range owners {
		n[o]++
	}
	return n
}

func moved(before, after []string) (n int) {
	for s := range before {
		if before[s] != after[s] {
			n++
		}
	}
	return n
}

// checkFair says that every shard is owned, and every load is the share by weight, rounded
// down or up.
func checkFair(t *testing.T, peers []Peer, owners []string) {
	t.Helper()
	total, n := 0, loads(owners)
	for _, p := range peers {
		total += p.Weight
	}
	for _, p := range peers {
		low, rest := len(owners)*p.Weight/total, len(owners)*p.Weight%total
		if n[p.Name] != low && (rest == 0 || n[p.Name] != low+1) {
			t.Errorf("%s with weight %d of %d has %d of %d shards", p.Name, p.Weight, total, n[p.Name], len(owners))
		}
		delete(n, p.Name)
	}
	if len(n) > 0 {
		t.Errorf("shards go to nobody that lives: %v", n)
	}
}

func TestAssignLaws(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		peers := randomPeers(random, 1+random.IntN(20), 1+random.IntN(3))
		shards := 1 + random.IntN(128)
		holders := make([]string, shards)
		for s := range holders { // some held by peers, unevenly; some by others; some by nobody
			switch random.IntN(4) {
			case 0:
				holders[s] = "gone"
			case 1, 2:
				holders[s] = peers[random.IntN(1+random.IntN(len(peers)))].Name
			}
		}
		owners := Assign(peers, holders)
		checkFair(t, peers, owners)
		shuffled := slices.Clone(peers)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if !slices.Equal(owners, Assign(shuffled, holders)) {
			t.Error("the order of peers matters")
		}
		if !slices.Equal(owners, Assign(peers, owners)) {
			t.Error("what is as it should be is changed")
		}
		half := slices.Clone(holders) // a move that is half done
		for s := range half {
			switch random.IntN(3) {
			case 0:
				half[s] = owners[s]
			case 1:
				if half[s] != owners[s] {
					half[s] = ""
				}
			}
		}
		if got := Assign(peers, half); moved(owners, got) > 0 && equalWeights(peers) && shards%len(peers) == 0 {
			t.Errorf("a move half done changes its end for %d shards", moved(owners, got))
		}
		if t.Failed() {
			t.Fatalf("seed %d: %d peers, %d shards", seed, len(peers), shards)
		}
	}
}

func equalWeights(peers []Peer) bool {
	return !slices.ContainsFunc(peers, func(p Peer) bool { return p.Weight != peers[0].Weight })
}

func TestAssignMovesNoMoreThanTheDumbWay(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		peers := randomPeers(random, 2+random.IntN(12), 1)
		before := Assign(peers, make([]string, 64))
		after := peers[1:]
		if random.IntN(2) == 0 {
			after = append(slices.Clone(peers), Peer{Name: "new", Weight: 1})
		}
		dumb := dumbAssign(slices.Clone(after), before)
		checkFair(t, after, dumb)
		if got, want := moved(before, Assign(after, before)), moved(before, dumb); got > want {
			t.Errorf("seed %d: %d shards move, the dumb way moves %d", seed, got, want)
		}
	}
}

// TestMovedShare prints what scaling moves beside what it cannot but move: the shards of who
// leaves, or the share of who comes.
func TestMovedShare(t *testing.T) {
	for _, c := range []struct{ from, to int }{{10, 9}, {3, 4}, {20, 19}} {
		var moves, least, stateless, shards int
		for seed := range uint64(100) {
			peers := randomPeers(rand.New(rand.NewPCG(seed, 2)), max(c.from, c.to), 1)
			before := Assign(peers[:c.from], make([]string, 64))
			after := Assign(peers[:c.to], before)
			moves += moved(before, after)
			stateless += moved(before, Assign(peers[:c.to], make([]string, 64)))
			if c.to < c.from {
				least += loads(before)[peers[c.from-1].Name]
			} else {
				least += 64 / c.to
			}
			shards += 64
		}
		share := func(n int) float64 { return float64(n) / float64(shards) }
		t.Logf("%d to %d: moved %.3f, unavoidable %.3f, without regard to holders %.3f", c.from, c.to, share(moves), share(least), share(stateless))
		if moves != least {
			t.Errorf("%d to %d: %d shards moved, %d had to", c.from, c.to, moves, least)
		}
	}
}

func TestAssignWithoutPeers(t *testing.T) {
	if got := Assign(nil, []string{"a", ""}); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("got %q", got)
	}
}

// The values are fixed for good.
func TestOfIsFixed(t *testing.T) {
	for name, want := range map[types.NamespacedName]int{
		{Namespace: "a", Name: "b-c"}:    51,
		{Namespace: "fleet", Name: "eu"}: 7,
	} {
		if got := Of(name, 64); got != want {
			t.Errorf("%s is in shard %d, was %d", name, got, want)
		}
	}
}

func TestOfSpreadsMembers(t *testing.T) {
	count := make([]int, 64)
	for i := range 64_000 {
		count[Of(types.NamespacedName{Namespace: fmt.Sprint("ns-", i%7), Name: fmt.Sprint("cluster-", i)}, 64)]++
	}
	if low, high := slices.Min(count), slices.Max(count); low < 850 || high > 1150 {
		t.Errorf("shards have %d to %d members, want about 1000", low, high)
	}
}
