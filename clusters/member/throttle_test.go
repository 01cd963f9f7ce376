package member

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/syncline-dev/syncline/federation/object"
)

// impatient answers everything by a code and Retry-After, until that is "".
type impatient struct {
	code  int
	after string
	asked atomic.Int32
}

func (p *impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	p.asked.Add(1)
	if p.after == "" {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	header := http.Header{"Retry-After": {p.after}}
	return &http.Response{StatusCode: p.code, Header: header, Body: io.NopCloser(strings.NewReader("no")), Request: req}, nil
}

func TestAMemberThatAsksForPatienceGetsIt(t *testing.T) {
	for name, test := range map[string]struct {
		code   int
		after  string
		quiet  time.Duration // for as long nothing is sent
		sentIn time.Duration
	}{
		"a second":            {429, "1", 900 * time.Millisecond, time.Second},
		"unavailable":         {503, "5", 4 * time.Second, 5 * time.Second},
		"a day":               {429, "86400", 29 * time.Second, 30 * time.Second},
		"of one request":      {504, "10", 0, 0},
		"nothing of the kind": {429, "Fri, 31 Dec 2027 23:59:59 GMT", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &impatient{code: test.code, after: test.after}
				transport := newThrottle(p)
				ask := func() int {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://m", strings.NewReader("body"))
					if err != nil {
						t.Fatal(err)
					}
					resp, err := transport.RoundTrip(req)
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					if resp.Header.Get("Retry-After") != "" {
						t.Error("client-go would sleep")
					}
					return resp.StatusCode
				}
				begin := time.Now()
				if code := ask(); code != test.code {
					t.Errorf("got %d", code)
				}
				p.after = ""
				for time.Since(begin) < test.quiet {
					if code := ask(); code != test.code || p.asked.Load() != 1 {
						t.Fatalf("after %s: got %d, sent %d", time.Since(begin), code, p.asked.Load())
					}
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(time.Until(begin.Add(test.sentIn)))
				if code := ask(); code != 200 {
					t.Errorf("after %s: got %d", time.Since(begin), code)
				}
			})
		})
	}
}

// busy is an API server that asks for patience whenever it is asked for an object.
type busy struct{ *fakeAPI }

func (b busy) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.fakeAPI.RoundTrip(req)
	if err == nil && req.URL.Path == configMapA {
		resp.StatusCode, resp.Header = http.StatusTooManyRequests, http.Header{"Retry-After": {"30"}}
	}
	return resp, err
}

// A member that asks for patience is not one that is away: the probe goes on. Nor does it
// ask for it where another server may answer.
func TestAThrottledMemberIsReachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, func(c *Config) { c.REST.Transport = busy{f} })
		start(t, m)
		for range 3 {
			if _, err := m.Get(t.Context(), idOf("a"), "v1"); Classify(err).Reason != ReasonThrottled {
				t.Errorf("got %v", err)
			}
		}
		if n := len(f.calls("GET " + configMapA)); n != 1 {
			t.Errorf("asked %d times", n)
		}
		f.on("GET /apis/example.com/v1", 200, resources("example.com/v1", resourceOf("widgets", "Widget", true)))
		f.on("GET /apis/example.com/v1/namespaces/shop/widgets/a", 200, configMap("a", "7").Object)
		if _, err := m.Get(t.Context(), object.ID{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "a"}, "v1"); err != nil {
			t.Errorf("another group: %v", err)
		}
		before := m.Reachability().LastSeen
		time.Sleep(10 * time.Second)
		if r := m.Reachability(); !r.Reachable || !r.LastSeen.After(before) {
			t.Errorf("got %+v", r)
		}
	})
}
