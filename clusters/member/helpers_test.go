package member

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestMain(m *testing.M) {
	logf.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}

// fakeAPI plays an API server without a network, so that it works in a bubble of synctest.
type fakeAPI struct {
	mu     sync.Mutex
	locked lockedAPI
}

type lockedAPI struct {
	routes map[string]route // by method and path
	calls  []*http.Request
	outage error
	frozen bool
}

// route answers a request with a status code and an object or a stream.
type route func(*http.Request) (int, any)

func newFakeAPI() *fakeAPI {
	f := &fakeAPI{locked: lockedAPI{routes: map[string]route{}}}
	f.on("GET /readyz", 200, "ok")
	f.on("GET /version", 200, map[string]any{"gitVersion": "v1.36.3"})
	f.on("GET /api/v1/namespaces/kube-system", 200, map[string]any{"metadata": map[string]any{"uid": "cluster-1"}})
	f.on("GET /api", 200, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	f.on("GET /apis", 200, map[string]any{"kind": "APIGroupList", "apiVersion": "v1"})
	f.on("GET /api/v1", 200, resources("v1",
		resourceOf("configmaps", "ConfigMap", true), resourceOf("secrets", "Secret", true), resourceOf("namespaces", "Namespace", false)))
	return f
}

func resources(groupVersion string, list ...any) any {
	return map[string]any{"kind": "APIResourceList", "groupVersion": groupVersion, "resources": list}
}

func resourceOf(name, kind string, namespaced bool) any {
	return map[string]any{"name": name, "kind": kind, "namespaced": namespaced}
}

func (f *fakeAPI) on(what string, code int, answer any) {
	f.handle(what, func(*http.Request) (int, any) { return code, answer })
}

func (f *fakeAPI) handle(what string, r route) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked.routes[what] = r
}

// fail makes every request fail on the network; nil ends that.
func (f *fakeAPI) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked.outage = err
}

// freeze makes every request hang until its context ends.
func (f *fakeAPI) freeze(frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked.frozen = frozen
}

// calls returns the requests of a method and path so far.
func (f *fakeAPI) calls(what string) (found []*http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, req := range f.locked.calls {
		if req.Method+" "+req.URL.Path == what {
			found = append(found, req)
		}
	}
	return found
}

// writes returns the requests so far that may change something.
func (f *fakeAPI) writes() (found []*http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, req := range f.locked.calls {
		if mutates(req) {
			found = append(found, req)
		}
	}
	return found
}

func (f *fakeAPI) take(req *http.Request) (r route, frozen bool, outage error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked.calls = append(f.locked.calls, req)
	return f.locked.routes[req.Method+" "+req.URL.Path], f.locked.frozen, f.locked.outage
}

// RoundTrip implements http.RoundTripper.
func (f *fakeAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	r, frozen, outage := f.take(req)
	switch {
	case outage != nil:
		return nil, outage
	case frozen:
		<-req.Context().Done()
		return nil, req.Context().Err()
	case r == nil:
		return respond(req, 404, "404 page not found"), nil
	}
	code, answer := r(req)
	return respond(req, code, answer), nil
}

func respond(req *http.Request, code int, answer any) *http.Response {
	resp := &http.Response{StatusCode: code, Header: http.Header{}, Request: req}
	switch answer := answer.(type) {
	case string:
		resp.Header.Set("Content-Type", "text/plain")
		resp.Body = io.NopCloser(bytes.NewBufferString(answer))
	case io.ReadCloser:
		resp.Header.Set("Content-Type", "application/json")
		resp.Body = answer
	default:
		raw, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		resp.Header.Set("Content-Type", "application/json")
		resp.Body = io.NopCloser(bytes.NewReader(raw))
	}
	return resp
}

// status is what an API server says of a failure.
func status(code int, reason, message string, details map[string]any) any {
	return map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure",
		"code": code, "reason": reason, "message": message, "details": details,
	}
}

// admission is an Admission under a test's control.
type admission struct {
	until time.Time // zero for ever
	epoch int
	err   error

	mu       sync.Mutex
	answered []bool // of each write that has ended
}

var errEnded = fmt.Errorf("%w: test", ErrNotOwner)

// Begin implements Admission.
func (a *admission) Begin(ctx context.Context) (context.Context, func(bool), error) {
	if a.err != nil {
		return nil, nil, a.err
	}
	cancel := func() {}
	if !a.until.IsZero() {
		ctx, cancel = context.WithDeadlineCause(ctx, a.until, errEnded)
	}
	if a.epoch > 0 {
		ctx = WithEpoch(ctx, a.epoch)
	}
	return ctx, func(answered bool) {
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.answered = append(a.answered, answered)
	}, nil
}

// ended are the writes that have ended: whether each was answered.
func (a *admission) ended() []bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.answered)
}

var errTest = errors.New("test")

// newTestMember returns a member over a fake API server, open for writes.
func newTestMember(t *testing.T, f *fakeAPI, change func(*Config)) *Member {
	t.Helper()
	cfg := Config{
		Settings:  Settings{HubID: "hub-1", Replica: "hub-0"},
		Name:      "fleet/a",
		REST:      &rest.Config{Host: "https://a.fleet.member.invalid", Transport: f},
		Admission: &admission{},
	}
	if change != nil {
		change(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m.SetPaused(false)
	return m
}

func configMap(name, version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"namespace": "shop", "name": name, "uid": "uid-" + name,
			"labels": map[string]any{v1alpha1.LabelHub: "hub-1"},
		},
	}}
	if version != "" {
		u.SetResourceVersion(version)
	}
	return u
}
