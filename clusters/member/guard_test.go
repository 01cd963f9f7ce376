package member

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// try makes a request and returns its error.
func try(rt http.RoundTripper, req *http.Request) error {
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func TestGuardAsksBeforeWhatMayChangeTheMember(t *testing.T) {
	shut := NewGuard(&admission{err: ErrNotOwner}, "hub-0", roundTrip(func(req *http.Request) (*http.Response, error) {
		return respond(req, 200, "passed"), nil
	}))
	for method, guarded := range map[string]bool{
		http.MethodGet: false, http.MethodHead: false, http.MethodOptions: false,
		http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
	} {
		req, err := http.NewRequestWithContext(t.Context(), method, "https://a/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := try(shut, req); errors.Is(err, ErrNotOwner) != guarded {
			t.Errorf("%s: got %v, guarded: %v", method, err, guarded)
		}
	}
	exec, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a/exec", nil)
	if err != nil {
		t.Fatal(err)
	}
	exec.Header.Set("Connection", "Upgrade")
	if err := try(shut, exec); !errors.Is(err, ErrNotOwner) {
		t.Errorf("an upgrade passes: %v", err)
	}
}

// F17: a client made by hand from the member's configuration cannot go around the guard,
// and sees why.
func TestNoClientGoesAroundTheGuard(t *testing.T) {
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	for name, test := range map[string]struct {
		refusal error
		pause   bool
		want    error
	}{
		"not the owner": {refusal: ErrNotOwner, want: ErrNotOwner},
		"paused":        {pause: true, want: ErrPaused},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			m := newTestMember(t, f, func(c *Config) { c.Admission = &admission{err: test.refusal} })
			m.SetPaused(test.pause)
			client, err := dynamic.NewForConfig(m.GetConfig())
			if err != nil {
				t.Fatal(err)
			}
			object := configMap("a", "")
			_, err = client.Resource(configMaps).Namespace("shop").Create(t.Context(), object, metav1.CreateOptions{})
			if !errors.Is(err, test.want) {
				t.Errorf("a client by hand: got %v, want %v", err, test.want)
			}
			if err := m.GetClient().Create(t.Context(), object); !errors.Is(err, test.want) {
				t.Errorf("the member's client: got %v, want %v", err, test.want)
			}
			_, err = m.Apply(t.Context(), object)
			if !errors.Is(err, test.want) || Classify(err).Class != Held {
				t.Errorf("Apply: got %v, want %v", err, test.want)
			}
			if left := f.writes(); len(left) > 0 {
				t.Errorf("%s %s left", left[0].Method, left[0].URL)
			}
		})
	}
}

func TestAWriteEndsWithOwnership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := NewGuard(&admission{until: time.Now().Add(time.Second)}, "hub-0", roundTrip(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}))
		start := time.Now()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		err = try(guard, req)
		if !errors.Is(err, ErrNotOwner) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("was cut after %s", took)
		}
	})
}

// F16: whoever is stopped between admission and sending sends nothing when resumed.
func TestNoBodyIsSentPastOwnership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []byte
		guard := NewGuard(&admission{until: time.Now().Add(time.Second)}, "hub-0", roundTrip(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute) // the process is stopped
			var err error
			sent, err = io.ReadAll(req.Body)
			return nil, err
		}))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a/", bytes.NewBufferString("object"))
		if err != nil {
			t.Fatal(err)
		}
		err = try(guard, req)
		if !errors.Is(err, ErrNotOwner) || len(sent) > 0 {
			t.Errorf("sent %q: %v", sent, err)
		}
		again, err := req.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if sent, err := io.ReadAll(again); err != nil || string(sent) != "object" {
			t.Errorf("the caller's request was changed: %q, %v", sent, err)
		}
	})
}

// The server counts its time from when the request arrives: one that leaves late would be
// worked on past the end of ownership.
func TestAWriteThatWaitedForAConnectionIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := NewGuard(&admission{until: time.Now().Add(8 * time.Second)}, "hub-0", roundTrip(func(req *http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Second)
			_, err := io.ReadAll(req.Body)
			return nil, err
		}))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a/", bytes.NewBufferString("object"))
		if err != nil {
			t.Fatal(err)
		}
		if err := try(guard, req); !errors.Is(err, errTooSlow) || errors.Is(err, ErrNotOwner) {
			t.Errorf("got %v", err)
		}
	})
}

// A hand-over waits for writes of unknown fate, and for no others.
func TestTheFateOfAWriteIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		send func(*http.Request) (*http.Response, error)
		want bool
	}{
		"answered":  {func(req *http.Request) (*http.Response, error) { return respond(req, 200, "taken"), nil }, true},
		"refused":   {func(req *http.Request) (*http.Response, error) { return respond(req, 409, "conflict"), nil }, true},
		"not sent":  {func(*http.Request) (*http.Response, error) { return nil, errTest }, true},
		"held back": {func(req *http.Request) (*http.Response, error) { return respond(req, 503, "patience"), nil }, true},
		"given up": {func(req *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
			return respond(req, 504, "timeout"), nil
		}, false},
		"no answer": {func(req *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
			return nil, errTest
		}, false},
	} {
		admission := &admission{}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_ = try(NewGuard(admission, "hub-0", roundTrip(tc.send)), req) // each error is one of the test's
		if got := admission.ended(); !slices.Equal(got, []bool{tc.want}) {
			t.Errorf("%s: ended as %v, want once and %v", name, got, tc.want)
		}
	}
}

func TestAWriteSaysItsEpochAndEndsAtTheServerToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for asked, want := range map[string]string{"": "6s", "timeout=10s": "6s", "timeout=3s": "3s"} {
			var sent *http.Request
			guard := NewGuard(&admission{until: time.Now().Add(8 * time.Second), epoch: 7}, "hub-0", roundTrip(func(req *http.Request) (*http.Response, error) {
				sent = req
				return respond(req, 200, "taken"), nil
			}))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "https://a/?"+asked, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if err := try(guard, req); err != nil {
				t.Fatal(err)
			}
			if sent.UserAgent() != "syncline (hub-0; epoch 7)" || sent.URL.Query().Get("timeout") != want {
				t.Errorf("asked %q: sent by %q with %q, want timeout %s", asked, sent.UserAgent(), sent.URL.RawQuery, want)
			}
			if req.URL.RawQuery != asked || req.UserAgent() != "" {
				t.Error("the caller's request was changed")
			}
		}
	})
}

func TestAWritePassesAllGates(t *testing.T) {
	ownership := &admission{err: ErrNotOwner}
	federation, own := NewGate("Federation default"), NewGate("MemberCluster fleet/a")
	gated := gated{ownership, []*Gate{federation, own}}
	for _, step := range []struct {
		name string
		do   func()
		want error
		text string
	}{
		{name: "nothing told", do: func() {}, want: ErrPaused, text: "until Federation default has been read"},
		{name: "federation told", do: func() { federation.SetPaused(false) }, want: ErrPaused, text: "until MemberCluster fleet/a has been read"},
		{name: "all told", do: func() { own.SetPaused(false) }, want: ErrNotOwner},
		{name: "owned", do: func() { ownership.err = nil }},
		{name: "red button", do: func() { federation.SetPaused(true) }, want: ErrPaused, text: "by Federation default"},
		{name: "released", do: func() { federation.SetPaused(false) }},
		{name: "one member paused", do: func() { own.SetPaused(true) }, want: ErrPaused, text: "by MemberCluster fleet/a"},
	} {
		step.do()
		_, _, err := gated.Begin(t.Context())
		switch {
		case !errors.Is(err, step.want):
			t.Errorf("%s: got %v, want %v", step.name, err, step.want)
		case err != nil && !strings.Contains(err.Error(), step.text):
			t.Errorf("%s: %q does not say %q", step.name, err, step.text)
		}
	}
	if own.SetPaused(true) || !own.SetPaused(false) {
		t.Error("SetPaused does not tell changes")
	}
}
