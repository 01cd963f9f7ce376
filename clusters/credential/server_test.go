package credential_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/syncline-dev/syncline/clusters/credential"
)

// server stands for a member's API server. It counts its open connections.
type server struct {
	*httptest.Server
	connections *connections
}

// newServer starts a server over HTTP/2.
func newServer(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{Server: httptest.NewUnstartedServer(handler), connections: newConnections()}
	s.EnableHTTP2 = true
	s.Config.ConnState = s.connections.track
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// config is a configuration that the server accepts.
func (s *server) config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

func (s *server) withToken(token string) *rest.Config {
	cfg := s.config()
	cfg.BearerToken = token
	return cfg
}

// withClientCertificate gives the configuration a self-signed client certificate.
func withClientCertificate(t *testing.T, cfg *rest.Config, name string) *rest.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotAfter:     time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cfg.CertData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	cfg.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return cfg
}

// newTransport returns a transport that is closed at the end, and a client that uses it.
func newTransport(t *testing.T, cfg *rest.Config, opts credential.Options) (*credential.Transport, *http.Client) {
	t.Helper()
	transport, err := credential.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	client, err := rest.HTTPClientFor(transport.RESTConfig("fleet/a"))
	if err != nil {
		t.Fatal(err)
	}
	return transport, client
}

const host = "https://a.fleet.member.invalid"

// connections counts what a server has open.
type connections struct {
	events chan connectionEvent
	count  chan int
}

type connectionEvent struct {
	conn net.Conn
	open bool
}

func newConnections() *connections {
	return &connections{events: make(chan connectionEvent, 1024), count: make(chan int)}
}

func (c *connections) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.events <- connectionEvent{conn, true}
	case http.StateClosed, http.StateHijacked:
		c.events <- connectionEvent{conn, false}
	}
}

// settlesAt waits until the number of open connections is at most n.
func (c *connections) settlesAt(t *testing.T, n int) {
	t.Helper()
	open := map[net.Conn]bool{}
	deadline := time.After(5 * time.Second)
	quiet := time.NewTimer(100 * time.Millisecond)
	for {
		select {
		case event := <-c.events:
			if event.open {
				open[event.conn] = true
			} else {
				delete(open, event.conn)
			}
			quiet.Reset(100 * time.Millisecond)
		case <-quiet.C:
			if len(open) <= n {
				return
			}
			quiet.Reset(100 * time.Millisecond)
		case <-deadline:
			t.Fatalf("%d connections are open, want %d", len(open), n)
		}
	}
}

// requestClientCertificates makes a server ask for client certificates, of anyone.
func requestClientCertificates(s *httptest.Server) {
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
}
