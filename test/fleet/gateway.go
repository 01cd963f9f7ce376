package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	neturl "net/url"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Gateway stands between clients and a cluster's API server, as Proxy does, and sees
// requests where Proxy sees bytes. It shows the cluster's own certificate, demands one of
// the cluster's authority, and asks the API server in the name of whoever showed it. It
// knows the cluster as it was when the gateway was started, and not one made anew.
type Gateway struct {
	cluster *Cluster
	port    int
	server  *http.Server
	served  chan error // what ended Serve
}

// StartGateway starts a gateway on a port of its own. Around may delay, count or answer
// requests before it passes them on to the handler that it is given, or instead. Whoever
// started the gateway closes it.
func (c *Cluster) StartGateway(around func(http.Handler) http.Handler) (*Gateway, error) {
	g := &Gateway{cluster: c, served: make(chan error, 1)}
	if err := g.start(around); err != nil {
		return nil, fmt.Errorf("start gateway of %s: %w", c.name, err)
	}
	return g, nil
}

func (g *Gateway) start(around func(http.Handler) http.Handler) error {
	pass, err := g.cluster.asClient()
	if err != nil {
		return err
	}
	server, err := tls.LoadX509KeyPair(g.cluster.file("server.crt"), g.cluster.file("server.key"))
	if err != nil {
		return fmt.Errorf("load certificate: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(g.cluster.state().ca.cert)
	var listening net.ListenConfig
	listener, err := listening.Listen(context.Background(), "tcp", address(0))
	if err != nil {
		return err
	}
	g.port = listener.Addr().(*net.TCPAddr).Port
	g.server = &http.Server{
		Handler:           around(pass),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that hang up are none of ours
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{server},
			ClientAuth:   tls.RequireAndVerifyClientCert,
			ClientCAs:    clients,
			MinVersion:   tls.VersionTLS12,
		},
	}
	go func() { g.served <- g.server.ServeTLS(listener, "", "") }()
	return nil
}

// asClient passes requests to the API server in the name of the certificate's owner.
func (c *Cluster) asClient() (http.Handler, error) {
	config := c.RESTConfig()
	upstream, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := neturl.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Transport:     upstream,
		FlushInterval: -1, // what a watch tells is passed at once
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			client := r.In.TLS.PeerCertificates[0].Subject
			r.Out.Header.Set(transport.ImpersonateUserHeader, client.CommonName)
			r.Out.Header.Del(transport.ImpersonateGroupHeader)
			for _, group := range client.Organization {
				r.Out.Header.Add(transport.ImpersonateGroupHeader, group)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}, nil
}

// Kubeconfig returns what the cluster's Kubeconfig does, with the gateway for a server.
func (g *Gateway) Kubeconfig() ([]byte, error) {
	s := g.cluster.state()
	s.port = g.port
	return g.cluster.kubeconfig(s, userAdmin, s.admin)
}

// KubeconfigFor returns what the cluster's KubeconfigFor does, with the gateway for a server.
func (g *Gateway) KubeconfigFor(user string, groups ...string) ([]byte, error) {
	s := g.cluster.state()
	pair, err := s.ca.client(user, groups...)
	if err != nil {
		return nil, err
	}
	s.port = g.port
	return g.cluster.kubeconfig(s, user, pair)
}

// Close closes all connections and stops listening.
func (g *Gateway) Close() error {
	err := g.server.Close()
	if ended := <-g.served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	if err != nil {
		return fmt.Errorf("close gateway of %s: %w", g.cluster.name, err)
	}
	return nil
}
