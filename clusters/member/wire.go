package member

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// wire sends single requests and returns what the server said, as bytes or as an error of
// k8s.io/apimachinery. It does not retry: client-go would wait inside the call whenever
// the server asks for patience, and hold a worker that other members need.
type wire struct {
	client  *rest.RESTClient
	timeout time.Duration // of one request
	// reach ends requests when the member is found unreachable; nil for the probes that find
	// it. Unanswered hears of requests that got no answer in time, and when they were sent.
	reach      *reach
	unanswered func(since time.Time)
}

func newWire(cfg *rest.Config, client *http.Client, timeout time.Duration) (*wire, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion = &schema.GroupVersion{}
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.UnversionedRESTClientForConfigAndClient(cfg, client)
	if err != nil {
		return nil, err
	}
	return &wire{client: c, timeout: timeout}, nil
}

// get reads a path.
func (w *wire) get(ctx context.Context, path string) ([]byte, error) {
	return w.do(ctx, w.client.Get().AbsPath(path))
}

// getURI reads a path with a query, as the server gave it.
func (w *wire) getURI(ctx context.Context, uri string) ([]byte, error) {
	return w.do(ctx, w.client.Get().RequestURI(uri))
}

// do sends a request, bounded by the timeout and by the member's being reachable.
func (w *wire) do(ctx context.Context, req *rest.Request) ([]byte, error) {
	if w.reach == nil {
		return w.send(ctx, req)
	}
	ctx, done, err := w.reach.during(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	sent := time.Now()
	raw, err := w.send(ctx, req)
	switch {
	case err == nil:
		return raw, nil
	case errors.Is(context.Cause(ctx), errOutOfSight):
		return nil, errOutOfSight
	case isTimeout(err):
		w.unanswered(sent)
	}
	return nil, err
}

func (w *wire) send(ctx context.Context, req *rest.Request) ([]byte, error) {
	result := req.MaxRetries(0).Timeout(w.timeout).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// warnings collects what the server warns of in answer to one request.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code == 299 && text != "" {
		*w = append(*w, text)
	}
}

// sightings takes every answer for a sign that the member is there.
type sightings struct {
	next http.RoundTripper
	seen func()
}

// RoundTrip implements http.RoundTripper.
func (s *sightings) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(req)
	if err == nil && resp.StatusCode < http.StatusBadRequest {
		s.seen()
	}
	return resp, err
}
