package fleet

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// proxied starts a proxy in front of a member, and returns a function that asks the member
// something through it.
func proxied(t *testing.T, member *Cluster) (*Proxy, func(time.Duration) error) {
	t.Helper()
	proxy, err := member.StartProxy()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	kubeconfig, err := proxy.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cl, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return proxy, func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		return cl.List(ctx, &corev1.NamespaceList{}, client.Limit(1))
	}
}

func TestProxyPassesAndDelays(t *testing.T) {
	const delay = 300 * time.Millisecond
	proxy, ask := proxied(t, shared.Member("east"))
	if err := ask(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := proxy.Delay(delay); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := ask(time.Minute); err != nil || time.Since(begin) < delay {
		t.Errorf("answered after %s: %v", time.Since(begin), err)
	}
}

func TestBlackholeSaysNothing(t *testing.T) {
	proxy, ask := proxied(t, shared.Member("east"))
	if err := ask(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := proxy.Blackhole(); err != nil {
		t.Fatal(err)
	}
	if err := ask(time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("on an old connection: got %v, want a timeout", err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", proxy.Address())
	if err != nil {
		t.Fatalf("a new connection is not accepted: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := proxy.Heal(); err != nil {
		t.Fatal(err)
	}
	if err := ask(time.Minute); err != nil {
		t.Errorf("healed: %v", err)
	}
}

func TestCutProxyRefuses(t *testing.T) {
	proxy, ask := proxied(t, shared.Member("east"))
	if err := proxy.Cut(); err != nil {
		t.Fatal(err)
	}
	if err := ask(time.Minute); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := proxy.Heal(); err != nil {
		t.Fatal(err)
	}
	if err := ask(time.Minute); err != nil {
		t.Errorf("healed: %v", err)
	}
}
