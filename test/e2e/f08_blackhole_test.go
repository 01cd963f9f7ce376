package e2e

import (
	"slices"
	"strconv"
	"testing"
	"time"
)

// One of three members loses all packets and tells nobody. Not beside other tests: it
// measures.
func TestF08LostPacketsDelayNoOther(t *testing.T) {
	const (
		edits = 10
		limit = 2 * time.Second
	)
	proxy := startProxy(t, shared.Member("lone"))
	a := newArena(t)
	a.interval = 20 * time.Millisecond
	lone := a.registerWith("lone", shared.Member("lone"), must(t)(proxy.Kubeconfig()))
	a.awaitReady("lone")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	if err := proxy.Blackhole(); err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for n := range edits {
		greeting := strconv.Itoa(n)
		begin := time.Now()
		a.apply(webLayer, "$GREETING", strconv.Quote(greeting))
		for _, name := range []string{"eu", "us"} {
			a.site(name).expectGreeting(greeting)
		}
		took = append(took, time.Since(begin))
		time.Sleep(500 * time.Millisecond)
	}
	t.Logf("others were served within %v", took)
	slices.Sort(took)
	if slow := took[len(took)*9/10-1]; slow > limit {
		t.Errorf("others were served within %v, want %s", took, limit)
	}
	if err := proxy.Heal(); err != nil {
		t.Fatal(err)
	}
	lone.expectGreeting(strconv.Itoa(edits - 1))
	a.awaitConverged("web")
}
