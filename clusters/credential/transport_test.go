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
	"time"

	"k8s.io/client-go/rest"

	"github.com/syncline-dev/syncline/clusters/credential"
)

func get(t *testing.T, client *http.Client, path string) string {
	t.Helper()
	resp, err := client.Get(host + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func replace(t *testing.T, transport *credential.Transport, cfg *rest.Config) {
	t.Helper()
	if err := transport.Replace(cfg); err != nil {
		t.Fatal(err)
	}
}

func TestTokenIsReplaced(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Authorization")) })
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
		io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
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
	old := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "old "+r.URL.Path) })
	moved := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "moved "+r.URL.Path) })
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
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Authorization")) })
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
	fmt.Fprintln(w, "begun")
	http.NewResponseController(w).Flush()
	s.started <- struct{}{}
	select {
	case <-s.release:
	case <-r.Context().Done():
	}
	fmt.Fprintln(w, "done")
}

func TestReplacementEndsWatchesAndLetsRequestsFinish(t *testing.T) {
	handler := newStreams()
	s := newServer(t, handler.ServeHTTP)
	transport, client := newTransport(t, s.config(), credential.Options{})
	open := func(path string) (*http.Response, chan error) {
		resp, err := client.Get(host + path)
		if err != nil {
			t.Fatal(err)
		}
		<-handler.started
		done := make(chan error, 1)
		go func() {
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil && !strings.HasSuffix(string(body), "done\n") {
				err = io.ErrUnexpectedEOF
			}
			done <- err
		}()
		return resp, done
	}
	_, watch := open("/api/v1/pods?watch=true&resourceVersion=1")
	_, slow := open("/slow")

	replace(t, transport, s.config())
	if err := <-watch; !errors.Is(err, io.ErrUnexpectedEOF) { // ReadAll saw a plain EOF, before the end
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
	resp, err := client.Get(host + "/slow")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-handler.started
	transport.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a request survived Close")
	}
	if _, err := client.Get(host + "/"); err == nil {
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
		resp, err := client.Get(host + "/?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		<-handler.started
		get(t, client, "/")
		replace(t, transport, s.withToken(fmt.Sprint(i)))
		if _, err := io.ReadAll(resp.Body); err != nil {
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
	_, err := client.Get(host + "/")
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
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
}
