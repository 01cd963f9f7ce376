package credential

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// DrainTimeout is how long ordinary requests may go on after their credentials were
	// replaced. It is longer than any request that Syncline makes.
	DrainTimeout = 30 * time.Second
	// unauthorizedInterval is the least time between two calls of OnUnauthorized for one
	// generation of credentials.
	unauthorizedInterval = 5 * time.Second
	// renewalWait is how long a request that was answered 401 waits for other credentials. To
	// read a Secret again takes a few milliseconds.
	renewalWait = 1500 * time.Millisecond
)

// Options are what a Transport needs beside credentials.
type Options struct {
	// OnUnauthorized is called when the member answers 401: the credentials should be read
	// again, and if they are others, Replace be called. It runs on the request's goroutine,
	// so it must return at once; it is called at most every five seconds, and anew after each
	// replacement. May be nil.
	OnUnauthorized func()
}

// Transport is an http.RoundTripper to one member. It is safe for concurrent use.
type Transport struct {
	opts Options

	mu     sync.Mutex
	locked lockedTransport
}

type lockedTransport struct {
	current      *generation
	unauthorized time.Time // when OnUnauthorized was last called for current
}

// New returns a transport with the given endpoint and credentials. It does no I/O. Of the
// configuration it uses what registration fills in: host, TLS, token, password,
// impersonation and proxy.
func New(cfg *rest.Config, opts Options) (*Transport, error) {
	first, err := newGeneration(cfg)
	if err != nil {
		return nil, err
	}
	return &Transport{opts: opts, locked: lockedTransport{current: first}}, nil
}

// Replace makes all requests from now on use another endpoint and other credentials. With
// an error nothing has changed.
func (t *Transport) Replace(cfg *rest.Config) error {
	next, err := newGeneration(cfg)
	if err != nil {
		return err
	}
	old := t.swap(next)
	close(old.replaced)
	old.retire(DrainTimeout)
	return nil
}

// Close ends everything that is in flight and closes all connections. Requests made later
// fail.
func (t *Transport) Close() {
	t.current().retire(0)
}

// Drain ends watches and lets all else that is in flight finish, for DrainTimeout at most.
// Requests made later fail. It returns at once.
func (t *Transport) Drain() {
	t.current().retire(DrainTimeout)
}

func (t *Transport) swap(next *generation) (old *generation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old = t.locked.current
	t.locked = lockedTransport{current: next}
	return old
}

func (t *Transport) current() *generation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked.current
}

// Endpoint is the host and port that requests go to now. It is no secret.
func (t *Transport) Endpoint() string { return t.current().endpoint.Host }

// RESTConfig returns a configuration for clients of the member, to be used for as long as
// the member is connected. It holds no credentials. The name, "<namespace>/<name>", only
// makes the pseudo host that appears in URLs, metrics and errors of such clients.
func (t *Transport) RESTConfig(name string) *rest.Config {
	return &rest.Config{Host: pseudoHost(name), Transport: t}
}

func pseudoHost(name string) string {
	parts := strings.Split(name, "/")
	slices.Reverse(parts)
	return "https://" + strings.Join(parts, ".") + ".member.invalid"
}

// RoundTrip implements http.RoundTripper. Its errors are *Error. A request that is answered
// 401 is sent once more if there are other credentials by now, or within a moment, and if
// its body can be sent again.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	used, resp, err := t.send(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		used, resp, err = t.retry(req, used, resp)
	}
	if err != nil {
		return nil, &Error{Endpoint: used.endpoint.Host, Err: err}
	}
	return resp, nil
}

// retry returns the answer that a 401 is replaced by, or the 401.
func (t *Transport) retry(req *http.Request, refused *generation, unauthorized *http.Response) (*generation, *http.Response, error) {
	reported := t.shouldReport(refused)
	if reported {
		t.opts.OnUnauthorized()
	}
	again, ok := repeated(req)
	if !ok {
		return refused, unauthorized, nil
	}
	if !refused.isReplaced() && (!reported || !refused.awaitReplacement(req.Context())) {
		return refused, unauthorized, nil
	}
	unauthorized.Body.Close()
	return t.send(again)
}

// repeated is a request that can be sent after it was sent; false if its body is spent.
func repeated(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again := req.Clone(req.Context())
	again.Body = body
	return again, true
}

// send goes on to the next generation when the one it looked up has been retired meanwhile.
func (t *Transport) send(req *http.Request) (*generation, *http.Response, error) {
	for {
		generation := t.current()
		resp, err := generation.roundTrip(req)
		if errors.Is(err, errRetired) && t.current() != generation {
			continue
		}
		return generation, resp, err
	}
}

func (t *Transport) shouldReport(g *generation) bool {
	if t.opts.OnUnauthorized == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.locked.current != g || !t.locked.unauthorized.IsZero() && now.Sub(t.locked.unauthorized) < unauthorizedInterval {
		return false
	}
	t.locked.unauthorized = now
	return true
}

// Error is a request that got no answer. It names the real endpoint, which the url.Error
// that http.Client puts around it does not.
type Error struct {
	// Endpoint is the host and port that the request went to.
	Endpoint string
	// Err is what happened.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Endpoint, e.Err) }

// Unwrap makes errors.Is and errors.As see the cause.
func (e *Error) Unwrap() error { return e.Err }
