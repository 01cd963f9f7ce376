package credential_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/syncline-dev/syncline/clusters/credential"
)

// begin makes a request and returns the body of the answer, which the test's end closes.
func begin(ctx context.Context, t *testing.T, client *http.Client, path string) (io.Reader, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.Body, nil
}

// get returns an answer in full.
func get(t *testing.T, client *http.Client, path string) string {
	t.Helper()
	body, err := begin(t.Context(), t, client, path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// say answers a request.
func say(w http.ResponseWriter, text string) { _, _ = io.WriteString(w, text) }

func replace(t *testing.T, transport *credential.Transport, cfg *rest.Config) {
	t.Helper()
	if err := transport.Replace(cfg); err != nil {
		t.Fatal(err)
	}
}

func TestTokenIsReplaced(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { say(w, r.Header.Get("Authorization")) })
	transport, client := newTransport(t, s.withToken("one"), credential.Options{})
	if got := get(t, client, "/"); got != "Bearer one" {
		t.Errorf("sent %q", got)
	}
	replace(t, transport, s.withToken("two"))
	if got := get(t, client, "/"); got != "Bearer two" {
		t.Errorf("sent %q after the replacement", got)
	}
}

func TestClientCertificateIsReplaced(t *testing.T) {
	s := &server{Server: httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))}
	requestClientCertificates(s.Server)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	transport, client := newTransport(t, withClientCertificate(t, s.config(), "one"), credential.Options{})
	if got := get(t, client, "/"); got != "one" {
		t.Errorf("is known as %q", got)
	}
	replace(t, transport, withClientCertificate(t, s.config(), "two"))
	if got := get(t, client, "/"); got != "two" {
		t.Errorf("is known as %q after the replacement", got)
	}
}

// F1, F3: the endpoint moves, with another authority; paths below it are kept.
func TestEndpointIsReplaced(t *testing.T) {
	old := newServer(t, func(w http.ResponseWriter, r *http.Request) { say(w, "old "+r.URL.Path) })
	moved := newServer(t, func(w http.ResponseWriter, r *http.Request) { say(w, "moved "+r.URL.Path) })
	transport, client := newTransport(t, old.config(), credential.Options{})
	if got := get(t, client, "/api"); got != "old /api" {
		t.Errorf("got %q", got)
	}
	cfg := moved.config()
	cfg.Host += "/k8s/clusters/c-1/"
	replace(t, transport, cfg)
	if got := get(t, client, "/api"); got != "moved /k8s/clusters/c-1/api" {
		t.Errorf("got %q after the replacement", got)
	}
	old.connections.settlesAt(t, 0)
}

func TestABadReplacementChangesNothing(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { say(w, r.Header.Get("Authorization")) })
	transport, client := newTransport(t, s.withToken("one"), credential.Options{})
	bad := s.withToken("two")
	bad.CAData = []byte("no PEM")
	if err := transport.Replace(bad); err == nil {
		t.Error("a bad authority is accepted")
	}
	if got := get(t, client, "/"); got != "Bearer one" {
		t.Errorf("sent %q", got)
	}
}

// streams answers watches with one line, and holds them and /slow until released.
type streams struct {
	started, release chan struct{}
}

func newStreams() *streams {
	return &streams{started: make(chan struct{}, 10), release: make(chan struct{})}
}

func (s *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	say(w, "begun ")
	_ = http.NewResponseController(w).Flush()
	s.started <- struct{}{}
	select {
	case <-s.release:
	case <-r.Context().Done():
	}
	say(w, "done")
}

// errCut is an answer that ends without an error, and without its last word.
var errCut = errors.New("cut")

func TestReplacementEndsWatchesAndLetsRequestsFinish(t *testing.T) {
	handler := newStreams()
	s := newServer(t, handler.ServeHTTP)
	transport, client := newTransport(t, s.config(), credential.Options{})
	open := func(path string) chan error {
		body, err := begin(t.Context(), t, client, path)
		if err != nil {
			t.Fatal(err)
		}
		<-handler.started
		ended := make(chan error, 1)
		go func() {
			text, err := io.ReadAll(body)
			if err == nil && !strings.HasSuffix(string(text), "done") {
				err = errCut
			}
			ended <- err
		}()
		return ended
	}
	watch := open("/api/v1/pods?watch=true&resourceVersion=1")
	slow := open("/slow")

	replace(t, transport, s.config())
	if err := <-watch; !errors.Is(err, errCut) {
		t.Errorf("the watch ended with %v, want a plain end of the stream", err)
	}
	select {
	case err := <-slow:
		t.Errorf("a request under way ended with %v", err)
	default:
	}
	close(handler.release)
	if err := <-slow; err != nil {
		t.Errorf("a request under way failed: %v", err)
	}
	s.connections.settlesAt(t, 0)
}

func TestCloseEndsEverything(t *testing.T) {
	handler := newStreams()
	s := newServer(t, handler.ServeHTTP)
	transport, client := newTransport(t, s.config(), credential.Options{})
	body, err := begin(t.Context(), t, client, "/slow")
	if err != nil {
		t.Fatal(err)
	}
	<-handler.started
	transport.Close()
	if _, err := io.ReadAll(body); err == nil {
		t.Error("a request survived Close")
	}
	if _, err := begin(t.Context(), t, client, "/"); err == nil {
		t.Error("a request was sent after Close")
	}
	s.connections.settlesAt(t, 0)
}

// 50 rotations, each with a watch open and a request made, leave nothing behind.
func TestReplacementsDoNotAccumulate(t *testing.T) {
	handler := newStreams()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			handler.ServeHTTP(w, r)
		}
	})
	transport, client := newTransport(t, s.config(), credential.Options{})
	rotate := func(i int) {
		watch, err := begin(t.Context(), t, client, "/?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		<-handler.started
		get(t, client, "/")
		replace(t, transport, s.withToken(fmt.Sprint(i)))
		if _, err := io.ReadAll(watch); err != nil {
			t.Fatal(err)
		}
	}
	rotate(-1)
	s.connections.settlesAt(t, 1)
	before := runtime.NumGoroutine()
	for i := range 50 {
		rotate(i)
	}
	s.connections.settlesAt(t, 1)
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func TestErrorsNameTheEndpoint(t *testing.T) {
	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	cfg := s.withToken("c4n4ry")
	s.Close()
	transport, client := newTransport(t, cfg, credential.Options{})
	_, err := begin(t.Context(), t, client, "/")
	var at *credential.Error
	if !errors.As(err, &at) || "https://"+at.Endpoint != s.URL || at.Endpoint != transport.Endpoint() {
		t.Errorf("got %v, want an error that names %s", err, s.URL)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the cause is hidden: %v", err)
	}
	if strings.Contains(err.Error(), "c4n4ry") {
		t.Errorf("the token is in %v", err)
	}
}

func TestUnauthorizedIsReportedOncePerCredentials(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	var calls atomic.Int32
	transport, client := newTransport(t, s.withToken("bad"), credential.Options{OnUnauthorized: func() { calls.Add(1) }})
	for range 10 {
		get(t, client, "/")
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("called %d times, want once", n)
	}
	replace(t, transport, s.withToken("also bad"))
	get(t, client, "/")
	if n := calls.Load(); n != 2 {
		t.Errorf("called %d times after a replacement, want once more", n)
	}
}

func TestARequestKeepsItsOwnContext(t *testing.T) {
	handler := newStreams()
	s := newServer(t, handler.ServeHTTP)
	_, client := newTransport(t, s.config(), credential.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, err := begin(ctx, t, client, "/slow")
	if err != nil {
		t.Fatal(err)
	}
	<-handler.started
	cancel()
	if _, err := io.ReadAll(body); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the caller's cancellation", err)
	}
}
