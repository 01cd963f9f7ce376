package member

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/syncline-dev/syncline/clusters/registration"
)

var memberA = types.NamespacedName{Namespace: "fleet", Name: "a"}

// nobody answers at this address.
func registrationOf(digest string) *registration.Registration {
	return &registration.Registration{Member: memberA, Digest: digest, Config: &rest.Config{Host: "https://127.0.0.1:1"}}
}

// aware is a controller that members are engaged with.
type aware struct {
	engaged chan engagement
	err     error
}

type engagement struct {
	ended   func() error // why, or nil
	name    multicluster.ClusterName
	cluster cluster.Cluster
}

func (a *aware) Engage(ctx context.Context, name multicluster.ClusterName, cl cluster.Cluster) error {
	a.engaged <- engagement{ctx.Err, name, cl}
	return a.err
}

// testProviderConfig is that of a provider whose members may all be written to.
func testProviderConfig() ProviderConfig {
	gate := NewGate("Federation default")
	gate.SetPaused(false)
	return ProviderConfig{
		Settings:  Settings{HubID: "hub-1", Replica: "hub-0"},
		Admission: func(types.NamespacedName) Admission { return &admission{} },
		Gate:      gate,
	}
}

// newTestProvider returns a provider and a function that starts it until the test ends.
func newTestProvider(t *testing.T) (*Provider, *aware, func()) {
	t.Helper()
	p, err := NewProvider(testProviderConfig())
	if err != nil {
		t.Fatal(err)
	}
	a := &aware{engaged: make(chan engagement, 10)}
	return p, a, func() {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx, a) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func connect(t *testing.T, p *Provider, digest string) *Member {
	t.Helper()
	// The context of whoever connects does not matter.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := p.Connect(ctx, memberA, registrationOf(digest)); err != nil {
		t.Fatal(err)
	}
	m, ok := p.Member(memberA)
	if !ok {
		t.Fatal("is not connected")
	}
	return m
}

func TestMembersAreEngagedWheneverTheyConnect(t *testing.T) {
	p, a, start := newTestProvider(t)
	m := connect(t, p, "one")
	start()
	first := <-a.engaged
	if first.name != "fleet/a" || first.cluster != m {
		t.Errorf("engaged %s", first.name)
	}
	if got, err := p.Get(t.Context(), "fleet/a"); err != nil || got != m {
		t.Errorf("got %v, %v", got, err)
	}
	other := types.NamespacedName{Namespace: "fleet", Name: "b"}
	if err := p.Connect(t.Context(), other, registrationOf("one")); err != nil {
		t.Fatal(err)
	}
	if second := <-a.engaged; second.name != "fleet/b" || second.ended() != nil {
		t.Errorf("engaged %s (%v)", second.name, second.ended())
	}
}

func TestARotationKeepsTheMember(t *testing.T) {
	p, a, start := newTestProvider(t)
	start()
	m := connect(t, p, "one")
	<-a.engaged
	transport := p.connection(memberA).transport
	if connect(t, p, "one") != m || connect(t, p, "two") != m || p.connection(memberA).transport != transport {
		t.Error("the member was made anew")
	}
	if digest := p.connection(memberA).locked.digest; digest != "two" {
		t.Errorf("uses credentials %s", digest)
	}
}

func TestADisconnectedMemberCanComeBack(t *testing.T) {
	p, a, start := newTestProvider(t)
	start()
	old := connect(t, p, "one")
	engaged := <-a.engaged
	token := p.connection(memberA)
	p.Disconnect(memberA)
	if engaged.ended() == nil {
		t.Error("is still engaged")
	}
	select {
	case <-token.done:
	default:
		t.Error("Disconnect did not wait")
	}
	if _, err := p.Get(t.Context(), "fleet/a"); !errors.Is(err, multicluster.ErrClusterNotFound) {
		t.Errorf("got %v", err)
	}
	if m := connect(t, p, "one"); m == old {
		t.Error("an ended member was connected again")
	}
	if again := <-a.engaged; again.ended() != nil {
		t.Error("its engagement has ended")
	}
	p.Disconnect(types.NamespacedName{Name: "never"})
}

func TestConcurrentConnectsMakeOneMember(t *testing.T) {
	p, a, start := newTestProvider(t)
	start()
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			if err := p.Connect(t.Context(), memberA, registrationOf("one")); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	<-a.engaged
	select {
	case <-a.engaged:
		t.Error("engaged twice")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestABadRegistrationChangesNothing(t *testing.T) {
	p, _, _ := newTestProvider(t)
	m := connect(t, p, "one")
	bad := registrationOf("two")
	bad.Config = &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("no PEM")}}
	if err := p.Connect(t.Context(), memberA, bad); err == nil {
		t.Error("is accepted")
	}
	if again, ok := p.Member(memberA); !ok || again != m || p.connection(memberA).locked.digest != "one" {
		t.Error("the member was changed")
	}
}

func TestANewMemberWritesNothingUntilItIsTold(t *testing.T) {
	p, _, _ := newTestProvider(t)
	m := connect(t, p, "one")
	if err := m.gate.Check(); !errors.Is(err, ErrPaused) {
		t.Errorf("got %v", err)
	}
	m.SetPaused(false)
	if err := m.gate.Check(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestIndexFieldIsRefused(t *testing.T) {
	p, _, _ := newTestProvider(t)
	if err := p.IndexField(t.Context(), nil, "", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{
		Settings: Settings{HubID: "hub-1", Replica: "hub-0"}, Name: "fleet/a", Admission: &admission{},
		REST: &rest.Config{Host: "https://a", Transport: newFakeAPI()},
	}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no name":      func(c *Config) { c.Name = "" },
		"no hub":       func(c *Config) { c.HubID = "" },
		"no replica":   func(c *Config) { c.Replica = "" },
		"no admission": func(c *Config) { c.Admission = nil },
		"no transport": func(c *Config) { c.REST = &rest.Config{Host: "https://a"} },
		"half a limit": func(c *Config) { c.QPS = 5 },
		"a time before time": func(c *Config) {
			c.ProbeTimeout = -time.Second
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			spoil(&cfg)
			if _, err := New(cfg); err == nil {
				t.Error("is accepted")
			}
		})
	}
}
