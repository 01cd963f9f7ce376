package member

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/federation/object"
)

func TestHealthJudgesWhatIsSeen(t *testing.T) {
	f := newFakeAPI()
	f.on("PATCH "+configMapA, 200, configMap("a", "7").Object)
	failed := object.Health{Status: object.Failed, Message: "bad"}
	m := newTestMember(t, f, func(c *Config) {
		c.Health = func(u *unstructured.Unstructured) object.Health {
			if u.GetName() != "a" {
				t.Errorf("asked about %s", u.GetName())
			}
			return failed
		}
	})
	if applied, err := m.Apply(t.Context(), configMap("a", "")); err != nil || applied.Health != failed {
		t.Errorf("got %+v, %v", applied.Health, err)
	}
}

func TestRequestsCarryTheirSettings(t *testing.T) {
	f := newFakeAPI()
	f.on("GET "+configMapA, 200, configMap("a", "7").Object)
	m := newTestMember(t, f, func(c *Config) {
		c.Replica = "replica-1"
		c.RequestTimeout = 4 * time.Second
	})
	if _, err := m.Get(t.Context(), idOf("a"), "v1"); err != nil {
		t.Fatal(err)
	}
	req := f.calls("GET " + configMapA)[0]
	if req.UserAgent() != "syncline (replica-1)" || req.URL.Query().Get("timeout") != "4s" {
		t.Errorf("sent as %s with %v", req.UserAgent(), req.URL.Query())
	}
}

func TestARequestThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, func(c *Config) { c.RequestTimeout = 4 * time.Second })
		f.freeze(true)
		start := time.Now()
		_, err := m.Get(t.Context(), idOf("a"), "v1")
		if took := time.Since(start); took != 4*time.Second || Classify(err).Reason != ReasonTimeout {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestQPSLimitsRequestsAndNotProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		f.on("GET "+configMapA, 200, configMap("a", "7").Object)
		m := newTestMember(t, f, func(c *Config) { c.QPS, c.Burst = 0.1, 1 })
		begin := time.Now()
		start(t, m)
		for range 3 { // and one for discovery
			if _, err := m.Get(t.Context(), idOf("a"), "v1"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin).Round(time.Second); took != 30*time.Second {
			t.Errorf("four requests took %s", took)
		}
		if n := len(f.calls("GET /readyz")); n < 5 {
			t.Errorf("%d probes in half a minute", n)
		}
	})
}

func TestProbesKeepTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, func(c *Config) {
			c.ProbeInterval, c.ProbeTimeout = time.Minute, 100*time.Millisecond
		})
		start(t, m)
		time.Sleep(10 * time.Minute)
		if n := len(f.calls("GET /readyz")); n < 10 || n > 12 {
			t.Errorf("%d probes in ten minutes", n)
		}
		f.freeze(true)
		within(t, 70*time.Second, "unreachable", func() bool { return !m.Reachability().Reachable })
	})
}

func TestSchemeIsThatOfTheClient(t *testing.T) {
	scheme := runtime.NewScheme()
	m := newTestMember(t, newFakeAPI(), func(c *Config) { c.Scheme = scheme })
	if m.GetScheme() != scheme {
		t.Error("another scheme")
	}
	if err := m.GetClient().Create(t.Context(), &corev1.ConfigMap{}); !runtime.IsNotRegisteredError(err) {
		t.Errorf("got %v", err)
	}
}

// A 401 has the Secret read again, and the credentials that come of it are used at once.
func TestUnauthorizedIsTold(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "{}") // enough of a version and of a namespace
	}))
	defer server.Close()
	reg := func(token string) *registration.Registration {
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		return &registration.Registration{Member: memberA, Digest: token, Config: &rest.Config{
			Host: server.URL, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca},
		}}
	}
	told := make(chan types.NamespacedName, 10)
	cfg := testProviderConfig()
	cfg.Unauthorized = func(key types.NamespacedName) { told <- key }
	p, err := NewProvider(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx, &aware{engaged: make(chan engagement, 1)}) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	if err := p.Connect(t.Context(), memberA, reg("bad")); err != nil {
		t.Fatal(err)
	}
	if key := <-told; key != memberA {
		t.Errorf("told of %s", key)
	}
	if err := p.Connect(t.Context(), memberA, reg("good")); err != nil {
		t.Fatal(err)
	}
	m, _ := p.Member(memberA)
	if _, err := m.wire.get(t.Context(), "/readyz"); err != nil {
		t.Error(err)
	}
}
