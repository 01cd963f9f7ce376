package credential

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// A dead peer is noticed at the latest after readIdle + pingTimeout, and a new one is
// given up after dialTimeout + handshakeTimeout.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 5 * time.Second
	readIdle         = 15 * time.Second
	pingTimeout      = 5 * time.Second
	keepAlive        = 30 * time.Second
	maxIdle          = 25
)

var (
	// errReplaced ends requests that outlast their credentials.
	errReplaced = errors.New("the credentials of the request were replaced")
	// errRetired means that nothing was sent, since the credentials were just replaced.
	errRetired = errors.New("the credentials were replaced before the request was sent")
)

// generation is one endpoint with one set of credentials, and its connections.
type generation struct {
	endpoint *url.URL
	sender   http.RoundTripper // adds credentials to requests
	pool     *http.Transport
	dialer   *connrotation.Dialer
	replaced chan struct{} // closed when there is a next generation

	mu     sync.Mutex
	locked lockedGeneration
}

type lockedGeneration struct {
	retired bool
	closed  bool
	flights map[*flight]struct{} // requests whose answer is not read to its end
	drain   *time.Timer          // closes a retired generation
}

func newGeneration(cfg *rest.Config) (*generation, error) {
	endpoint, err := url.Parse(cfg.Host)
	if err != nil || endpoint.Host == "" {
		return nil, fmt.Errorf("credential: the server %q is not a URL with a host", cfg.Host)
	}
	tlsConfig, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("credential: TLS for %s: %w", endpoint.Host, err)
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	g := &generation{
		endpoint: endpoint,
		replaced: make(chan struct{}),
		locked:   lockedGeneration{flights: map[*flight]struct{}{}},
	}
	// Idle connections have no timeout: they end with the generation, and a timer would keep
	// each in memory for as long after that.
	g.dialer = connrotation.NewDialer((&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext)
	g.pool = &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         g.dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: handshakeTimeout,
		MaxIdleConnsPerHost: maxIdle,
		ForceAttemptHTTP2:   true,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout:  readIdle,
			PingTimeout:      pingTimeout,
			WriteByteTimeout: readIdle,
		},
	}
	if cfg.Proxy != nil {
		g.pool.Proxy = cfg.Proxy
	}
	if g.sender, err = rest.HTTPWrappersForConfig(onlyCredentials(cfg), g.pool); err != nil {
		return nil, fmt.Errorf("credential: %s: %w", endpoint.Host, err)
	}
	return g, nil
}

// onlyCredentials leaves out what a configuration may carry for other purposes.
func onlyCredentials(cfg *rest.Config) *rest.Config {
	return &rest.Config{
		BearerToken: cfg.BearerToken,
		Username:    cfg.Username,
		Password:    cfg.Password,
		Impersonate: cfg.Impersonate,
	}
}

func (g *generation) isReplaced() bool {
	select {
	case <-g.replaced:
		return true
	default:
		return false
	}
}

// awaitReplacement waits until there is a next generation; false if there was none within
// renewalWait, or before ctx was done.
func (g *generation) awaitReplacement(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, renewalWait)
	defer cancel()
	select {
	case <-g.replaced:
		return true
	case <-ctx.Done():
		return false
	}
}

// dial refuses once the generation is closed: a connection whose dialling outlasts that
// would belong to nobody.
func (g *generation) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if g.isClosed() {
		return nil, errors.Join(errRetired, conn.Close())
	}
	return conn, nil
}

func (g *generation) roundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	f := &flight{watch: isWatch(req), cancel: cancel, generation: g}
	if !g.begin(f) {
		cancel(nil)
		return nil, errRetired
	}
	resp, err := g.sender.RoundTrip(g.rewrite(req.WithContext(ctx)))
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errReplaced) {
			err = cause
		}
		f.end()
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, flight: f}
	return resp, nil
}

// rewrite points a request at the endpoint. Whatever host it named, it goes nowhere else.
func (g *generation) rewrite(req *http.Request) *http.Request {
	target := *req.URL
	target.Scheme = g.endpoint.Scheme
	target.Host = g.endpoint.Host
	if prefix := strings.TrimSuffix(g.endpoint.Path, "/"); prefix != "" {
		target.Path = path.Join(prefix, target.Path)
		if target.RawPath != "" {
			target.RawPath = path.Join(prefix, target.RawPath)
		}
	}
	req.URL = &target
	req.Host = ""
	return req
}

func isWatch(req *http.Request) bool {
	return req.Method == http.MethodGet && req.URL.Query().Get("watch") == "true"
}

// retire ends watches at once, and everything else when it has finished or after drain.
func (g *generation) retire(drain time.Duration) {
	for _, f := range g.startRetiring(drain) {
		f.cancel(errReplaced)
	}
	if drain == 0 || g.isDrained() {
		g.close()
		return
	}
	g.pool.CloseIdleConnections()
}

// startRetiring returns the flights to be cut now.
func (g *generation) startRetiring(drain time.Duration) (cut []*flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for f := range g.locked.flights {
		if f.watch || drain == 0 {
			cut = append(cut, f)
		}
	}
	if !g.locked.retired && drain > 0 {
		g.locked.drain = time.AfterFunc(drain, func() { g.retire(0) })
	}
	g.locked.retired = true
	return cut
}

// close closes every connection, also those that still look busy to the pool, and without
// the farewell of TLS that would wait for a peer that is gone.
func (g *generation) close() {
	g.mu.Lock()
	g.locked.closed = true
	if g.locked.drain != nil {
		g.locked.drain.Stop()
	}
	g.mu.Unlock()
	g.dialer.CloseAll()
	g.pool.CloseIdleConnections()
}

func (g *generation) begin(f *flight) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.locked.retired {
		return false
	}
	g.locked.flights[f] = struct{}{}
	return true
}

func (g *generation) end(f *flight) {
	g.mu.Lock()
	delete(g.locked.flights, f)
	last := g.locked.retired && !g.locked.closed && len(g.locked.flights) == 0
	g.mu.Unlock()
	if last {
		g.close()
	}
}

func (g *generation) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.locked.closed
}

func (g *generation) isDrained() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.locked.flights) == 0
}
