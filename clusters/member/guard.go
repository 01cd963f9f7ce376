package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Guard lets a request that may change the member pass only while it is admitted, and cuts
// it off when the admission ends. Everything but GET, HEAD and OPTIONS may change it, and
// so may a connection that is upgraded: exec is a GET. There are no exceptions, not even
// for reviews that only look like writes.
//
// A refusal reaches the callers of any client: errors.Is(err, ErrNotOwner) and
// errors.Is(err, ErrPaused) hold through http.Client and client-go, which do not retry it.
//
// A write says in which epoch it was made, by its User-Agent, and asks the server to give it
// up when ownership ends.
type Guard struct {
	admission Admission
	replica   string
	next      http.RoundTripper
}

// NewGuard returns a guard in front of a transport, for writes of a replica.
func NewGuard(admission Admission, replica string, next http.RoundTripper) *Guard {
	return &Guard{admission: admission, replica: replica, next: next}
}

// RoundTrip implements http.RoundTripper.
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !mutates(req) {
		return g.next.RoundTrip(req)
	}
	ctx, done, err := g.admission.Begin(req.Context())
	if err != nil {
		return nil, unsent(req, err)
	}
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
	resp, err := g.next.RoundTrip(g.admitted(traced, req))
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, ErrNotOwner) {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		done(!sent.Load())
		return nil, err
	}
	resp.Body = &doneOnClose{ReadCloser: resp.Body, done: sync.OnceFunc(func() {
		done(!sent.Load() || conclusive(resp.StatusCode))
	})}
	return resp, nil
}

// conclusive reports whether an answer tells that a write is over. A server that gives up, or
// one in front of it that does, says nothing of what is still being done.
func conclusive(status int) bool {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// unsent closes a request's body, as every RoundTripper must, also of what it does not send.
func unsent(req *http.Request, why error) error {
	if err := closeBody(req); err != nil {
		return errors.Join(why, err)
	}
	return why
}

func closeBody(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	return req.Body.Close()
}

func mutates(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return strings.EqualFold(req.Header.Get("Connection"), "Upgrade")
	}
	return true
}

// userAgent is the User-Agent of a replica's requests, as members' audit logs show it.
func userAgent(replica string) string { return "syncline (" + replica + ")" }

// admitted is the request as it is sent. Of the time that is left, the way to the member gets
// a quarter: the server counts from when the request arrives, and a connection may have to
// be made before.
func (g *Guard) admitted(ctx context.Context, req *http.Request) *http.Request {
	sent := req.Clone(ctx)
	if epoch, known := EpochOf(ctx); known {
		sent.Header.Set("User-Agent", fmt.Sprintf("syncline (%s; epoch %d)", g.replica, epoch))
	}
	until, ends := ctx.Deadline()
	if !ends {
		return sent
	}
	works := time.Until(until) * 3 / 4
	limit(sent, works)
	return fenced(sent, until.Add(-works))
}

// limit asks the server to give a request up after a time, or earlier if it is asked to.
func limit(req *http.Request, after time.Duration) {
	query := req.URL.Query()
	if asked, err := time.ParseDuration(query.Get("timeout")); err == nil && asked > 0 && asked < after {
		return
	}
	query.Set("timeout", max(after.Truncate(time.Millisecond), time.Millisecond).String())
	req.URL.RawQuery = query.Encode()
}

// fenced closes the gap between admission and the wire. A process can be stopped after
// Begin and resumed much later, before the timer of its deadline fires; reading the body
// is the last thing that happens before bytes are sent, and no server acts on half a body.
func fenced(req *http.Request, sendBy time.Time) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	ctx := req.Context()
	passes := func() error { return sendable(ctx, sendBy) }
	req.Body = &fence{req.Body, passes}
	if again := req.GetBody; again != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return &fence{body, passes}, nil
		}
	}
	return req
}

var (
	errTooLate = fmt.Errorf("%w: ownership ended before the write was sent", ErrNotOwner)
	errTooSlow = errors.New("the write could not be sent in time")
)

// sendable says why a write must not be sent any more; nil if it may.
func sendable(ctx context.Context, sendBy time.Time) error {
	now := time.Now()
	if until, ends := ctx.Deadline(); ends && !now.Before(until) {
		return errTooLate
	}
	if !now.Before(sendBy) {
		return errTooSlow
	}
	return ctx.Err()
}

type fence struct {
	io.ReadCloser
	passes func() error
}

func (f *fence) Read(p []byte) (int, error) {
	if err := f.passes(); err != nil {
		return 0, err
	}
	return f.ReadCloser.Read(p)
}

// doneOnClose is the body of the response to a write, which ends when it is closed.
type doneOnClose struct {
	io.ReadCloser
	done func()
}

func (d *doneOnClose) Close() error {
	defer d.done()
	return d.ReadCloser.Close()
}
