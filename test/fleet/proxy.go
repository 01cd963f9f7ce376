package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Proxy stands between clients and a cluster's API server and spoils the network on
// demand. It passes bytes, not requests: certificates and TLS are the cluster's. Each of
// Blackhole, Delay and Cut takes the place of the one before. Its methods must follow one
// another; whoever started it closes it.
type Proxy struct {
	cluster *Cluster
	port    int
	relay   *toxiproxy.Proxy
}

// StartProxy starts a proxy in front of the cluster's API server, on a port of its own. A
// cluster may have several, and they stay when it is killed, restarted or made anew.
func (c *Cluster) StartProxy() (*Proxy, error) {
	var err error
	for range clashTries {
		var p *Proxy
		if p, err = c.tryProxy(); err == nil {
			return p, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, fmt.Errorf("start proxy of %s: %w", c.name, err)
}

func (c *Cluster) tryProxy() (*Proxy, error) {
	port, err := handedOut.free(context.Background())
	if err != nil {
		return nil, err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &Proxy{
		cluster: c,
		port:    port,
		relay:   toxiproxy.NewProxy(server, c.name, address(port), address(c.state().port)),
	}
	return p, p.relay.Start()
}

// Address is the host and port that the proxy listens on.
func (p *Proxy) Address() string { return address(p.port) }

// Kubeconfig returns what the cluster's Kubeconfig does, with the proxy for a server.
func (p *Proxy) Kubeconfig() ([]byte, error) {
	s := p.cluster.state()
	s.port = p.port
	return p.cluster.kubeconfig(s, userAdmin, s.admin)
}

// KubeconfigFor returns what the cluster's KubeconfigFor does, with the proxy for a server.
func (p *Proxy) KubeconfigFor(user string, groups ...string) ([]byte, error) {
	s := p.cluster.state()
	pair, err := s.ca.client(user, groups...)
	if err != nil {
		return nil, err
	}
	s.port = p.port
	return p.cluster.kubeconfig(s, user, pair)
}

// Blackhole loses every byte in both directions. Nobody is told: connections stay, and new
// ones are accepted and say nothing. As bytes are lost for good, Heal ends the connections
// of that time.
func (p *Proxy) Blackhole() error {
	return p.impose(
		`{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`,
		`{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`,
	)
}

// Delay delays what the server says, so that every answer comes that much later.
func (p *Proxy) Delay(d time.Duration) error {
	return p.impose(fmt.Sprintf(`{"type": "latency", "stream": "downstream", "attributes": {"latency": %d}}`, d.Milliseconds()))
}

// Cut closes the connections that are open and refuses new ones.
func (p *Proxy) Cut() error {
	if err := p.Heal(); err != nil {
		return err
	}
	p.relay.Stop()
	return nil
}

// Heal makes the proxy pass everything at once, as it did at first.
func (p *Proxy) Heal() error {
	p.relay.Toxics.ResetToxics(context.Background())
	err := p.relay.Start()
	if err != nil && !errors.Is(err, toxiproxy.ErrProxyAlreadyStarted) {
		return fmt.Errorf("heal proxy of %s: %w", p.cluster.name, err)
	}
	return nil
}

// Close closes all connections and stops listening.
func (p *Proxy) Close() error {
	return p.Cut()
}

func (p *Proxy) impose(toxics ...string) error {
	if err := p.Heal(); err != nil {
		return err
	}
	for _, toxic := range toxics {
		if _, err := p.relay.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return fmt.Errorf("spoil proxy of %s: %w", p.cluster.name, err)
		}
	}
	return nil
}
