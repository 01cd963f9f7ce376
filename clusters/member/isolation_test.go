package member

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pass of many requests, one after the other and side by side, against a member that hangs
// since before the first: it is over when about one request's timeout is.
func TestAPassAgainstAFrozenMemberEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 14 * time.Second // a request's timeout, a probe's, and the space between
		f := newFakeAPI()
		m := newTestMember(t, f, nil)
		start(t, m)
		for round := range 20 {
			time.Sleep(time.Minute + time.Duration(round)*300*time.Millisecond)
			f.freeze(true)
			begin := time.Now()
			for range 5 {
				var wave sync.WaitGroup
				for range 4 {
					wave.Go(func() {
						if _, err := m.Apply(t.Context(), configMap("a", "")); Classify(err).Class != Transient {
							t.Errorf("got %v", err)
						}
					})
				}
				wave.Wait()
			}
			if took := time.Since(begin); took > most {
				t.Errorf("round %d: the pass took %s", round, took)
			}
			f.freeze(false)
			within(t, 15*time.Second, "reachable", func() bool { return m.Reachability().Reachable })
		}
	})
}

// A request that is under way when the member is found away does not wait for its own
// timeout.
func TestRequestsUnderWayEndWhenTheMemberIsFoundAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, func(c *Config) { c.RequestTimeout = time.Hour })
		start(t, m)
		f.freeze(true)
		begin := time.Now()
		_, err := m.Get(t.Context(), idOf("a"), "v1")
		if got := Classify(err); got.Reason != ReasonUnreachable || got.Message != "the member does not answer in time" {
			t.Errorf("got %+v", got)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// One slow request, such as one that waits for a webhook, says nothing of the member.
func TestASlowRequestIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		f.handle("GET "+configMapA, func(req *http.Request) (int, any) {
			<-req.Context().Done()
			return http.StatusGatewayTimeout, ""
		})
		m := newTestMember(t, f, nil)
		start(t, m)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := m.Get(ctx, idOf("a"), "v1"); Classify(err).Reason != ReasonTimeout {
			t.Errorf("got %v", err)
		}
		time.Sleep(10 * time.Second)
		if r := m.Reachability(); !r.Reachable || time.Since(r.Since) < 20*time.Second {
			t.Errorf("got %+v", r)
		}
		if errors.Is(m.away(), ErrUnreachable) {
			t.Error("requests are refused")
		}
	})
}
