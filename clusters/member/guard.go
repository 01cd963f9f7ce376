package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Guard lets a request that may change the member pass only while it is admitted, and cuts
// it off when the admission ends. Everything but GET, HEAD and OPTIONS may change it, and
// so may a connection that is upgraded: exec is a GET. There are no exceptions, not even
// for reviews that only look like writes.
//
// A refusal reaches the callers of any client: errors.Is(err, ErrNotOwner) and
// errors.Is(err, ErrPaused) hold through http.Client and client-go, which do not retry it.
type Guard struct {
	admission Admission
	next      http.RoundTripper
}

// NewGuard returns a guard in front of a transport.
func NewGuard(admission Admission, next http.RoundTripper) *Guard {
	return &Guard{admission: admission, next: next}
}

// RoundTrip implements http.RoundTripper.
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !mutates(req) {
		return g.next.RoundTrip(req)
	}
	until, err := g.admission.Admit()
	if err != nil {
		return nil, unsent(req, err)
	}
	if until.IsZero() {
		return g.next.RoundTrip(req)
	}
	ctx, cancel := context.WithDeadlineCause(req.Context(), until, errOwnershipEnded)
	resp, err := g.next.RoundTrip(fenced(req.WithContext(ctx), until))
	if err != nil {
		defer cancel()
		if errors.Is(context.Cause(ctx), errOwnershipEnded) {
			err = fmt.Errorf("%w (%w)", errOwnershipEnded, err)
		}
		return nil, err
	}
	resp.Body = &cancelOnClose{ReadCloser: resp.Body, cancel: cancel}
	return resp, nil
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

var errOwnershipEnded = fmt.Errorf("%w: ownership ended while the write was under way", ErrNotOwner)

func mutates(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return strings.EqualFold(req.Header.Get("Connection"), "Upgrade")
	}
	return true
}

// fenced closes the gap between admission and the wire. A process can be stopped after
// Admit and resumed much later, before the timer of its deadline fires; reading the body
// is the last thing that happens before bytes are sent, and no server acts on half a body.
func fenced(req *http.Request, until time.Time) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	req.Body = &fence{ReadCloser: req.Body, until: until}
	if again := req.GetBody; again != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return &fence{ReadCloser: body, until: until}, nil
		}
	}
	return req
}

type fence struct {
	io.ReadCloser
	until time.Time
}

func (f *fence) Read(p []byte) (int, error) {
	if !time.Now().Before(f.until) {
		return 0, errOwnershipEnded
	}
	return f.ReadCloser.Read(p)
}

type cancelOnClose struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *cancelOnClose) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
