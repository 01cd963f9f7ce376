package member

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// start runs a member until the test ends. It must run in a bubble.
func start(t *testing.T, m *Member) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
}

// within waits until a condition holds, in the bubble's time.
func within(t *testing.T, d time.Duration, what string, holds func() bool) {
	t.Helper()
	for start := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > d {
			t.Fatalf("not %s within %s", what, d)
		}
	}
}

func TestTheIdentityIsKnownWhenTheMemberIsReachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notified atomic.Int32
		m := newTestMember(t, newFakeAPI(), func(c *Config) { c.Notify = func() { notified.Add(1) } })
		notified.Store(0)
		start(t, m)
		r := m.Reachability()
		if !r.Reachable || r.Version != "v1.36.3" || r.UID != "cluster-1" || r.Err != "" || r.LastSeen.IsZero() {
			t.Errorf("got %+v", r)
		}
		time.Sleep(time.Hour)
		if n := notified.Load(); n != 1 {
			t.Errorf("notified %d times in an hour in which nothing happened", n)
		}
	})
}

// The promise of the documentation: Unknown within 20 s, and back within 15 s.
func TestAFrozenMemberIsFoundOutAndFoundAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, nil)
		start(t, m)
		for range 50 {
			seen := time.Now()
			f.freeze(true)
			within(t, 20*time.Second, "unreachable", func() bool { return !m.Reachability().Reachable })
			r := m.Reachability()
			if r.LastSeen.After(seen) || r.Since.Before(seen) || !strings.Contains(r.Err, "does not answer in time") {
				t.Errorf("got %+v", r)
			}
			time.Sleep(time.Minute)
			f.freeze(false)
			within(t, 15*time.Second, "reachable", func() bool { return m.Reachability().Reachable })
			time.Sleep(7 * time.Second)
		}
	})
}

func TestOneFailureIsNotAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, nil)
		start(t, m)
		f.fail(syscall.ECONNRESET)
		time.Sleep(6200 * time.Millisecond) // one or two probes
		f.fail(nil)
		time.Sleep(time.Second)
		if r := m.Reachability(); !r.Reachable || !r.Since.Before(time.Now().Add(-7*time.Second)) {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAMemberThatNeverAnsweredIsUnreachableAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		f.fail(syscall.ECONNREFUSED)
		m := newTestMember(t, f, nil)
		start(t, m)
		if r := m.Reachability(); r.Reachable || r.Since.IsZero() || !r.LastSeen.IsZero() || r.Err != "the member refuses connections" {
			t.Errorf("got %+v", r)
		}
		_, err := m.Apply(t.Context(), configMap("a", ""))
		if Classify(err).Reason != ReasonUnreachable || len(f.calls("PATCH /api/v1/namespaces/shop/configmaps/a")) > 0 {
			t.Errorf("tried to apply: %v", err)
		}
	})
}

func TestReadyzMayBeForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		forbidden := status(http.StatusForbidden, "Forbidden", `forbidden: User "hub" cannot get path "/readyz"`, nil)
		f.on("GET /readyz", http.StatusForbidden, forbidden)
		f.on("GET /api/v1/namespaces/kube-system", http.StatusForbidden, forbidden)
		m := newTestMember(t, f, nil)
		start(t, m)
		if r := m.Reachability(); !r.Reachable || r.UID != "" || !strings.Contains(r.Err, "kube-system") {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAnotherClusterUnderTheSameNameIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, nil)
		start(t, m)
		m.store.record(at("a", "900", "x"))
		f.on("GET /api/v1/namespaces/kube-system", 200, map[string]any{"metadata": map[string]any{"uid": "cluster-2"}})
		m.Refresh()
		within(t, 2*time.Second, "known by its new UID", func() bool { return m.Reachability().UID == types.UID("cluster-2") })
		synctest.Wait()
		if _, found := m.Seen(idOf("a")); found {
			t.Error("what was seen of the old cluster is still known")
		}
	})
}
