package member

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mostPatience is how long a member may have us wait at a time. A proxy in front of one has
// been seen to ask for a day.
const mostPatience = 30 * time.Second

// throttle is a transport that heeds a member that asks for patience, by a 429 or a 503
// with Retry-After: until the time is over requests fail at once, unsent, as the member
// would have them fail. Callers have back-offs of their own. It counts for one API group,
// since another server may stand behind each.
//
// The header goes no further: client-go would sleep on it, inside a call, however long it
// says, and hold a worker or keep silent about a watch that does not work.
type throttle struct {
	next http.RoundTripper

	mu     sync.Mutex
	locked map[string]patience // by API group, as it stands in paths
}

// patience is what a member asked for.
type patience struct {
	until time.Time
	code  int // of the answer
}

func newThrottle(next http.RoundTripper) *throttle {
	return &throttle{next: next, locked: map[string]patience{}}
}

// RoundTrip implements http.RoundTripper.
func (t *throttle) RoundTrip(req *http.Request) (*http.Response, error) {
	group := groupOf(req.URL.Path)
	if asked := t.asked(group); time.Now().Before(asked.until) {
		return assumed(req, asked.code)
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if asksForPatience(resp) {
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			wait := min(time.Duration(seconds)*time.Second, mostPatience)
			t.ask(group, patience{until: time.Now().Add(wait), code: resp.StatusCode})
		}
	}
	resp.Header.Del("Retry-After")
	return resp, nil
}

// groupOf is the part of a path that names the API group: "api" or "apis/<group>".
func groupOf(path string) string {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if parts[0] == "apis" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// asksForPatience says whether an answer is about the member. Other errors with Retry-After
// are about the request, as when it asks for a version yet to come.
func asksForPatience(resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
}

func (t *throttle) asked(group string) patience {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked[group]
}

func (t *throttle) ask(group string, asked patience) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if asked.until.After(t.locked[group].until) {
		t.locked[group] = asked
	}
}

// assumed is what the member is taken to answer to a request that is not sent.
func assumed(req *http.Request, code int) (*http.Response, error) {
	if err := closeBody(req); err != nil {
		return nil, err
	}
	return &http.Response{
		Status:     http.StatusText(code),
		StatusCode: code,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"text/plain"}},
		Body:    io.NopCloser(strings.NewReader("the member asked for patience")),
		Request: req,
	}, nil
}
