package e2e

import (
	"strconv"
	"testing"
	"time"
)

// One of three members loses all packets and tells nobody. Not beside other tests, which would
// delay the others as well; how fast these are is for the benchmark to say.
func TestF08LostPacketsDelayNoOther(t *testing.T) {
	const (
		edits = 10
		// whoever waits for one request to the lost member waits for this long.
		requestTimeout = 10 * time.Second
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
	for n := range edits {
		greeting := strconv.Itoa(n)
		begin := time.Now()
		a.apply(webLayer, "$GREETING", strconv.Quote(greeting))
		for _, name := range []string{"eu", "us"} {
			a.site(name).expectGreeting(greeting)
		}
		if took := time.Since(begin); took > requestTimeout {
			t.Errorf("edit %d took %s to reach the others: they waited for the lost member", n, took)
		}
	}
	if err := proxy.Heal(); err != nil {
		t.Fatal(err)
	}
	lone.expectGreeting(strconv.Itoa(edits - 1))
	a.awaitConverged("web")
}
