package e2e

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/syncline-dev/syncline/test/fleet"
)

// gateway stands before a member's API server, reads requests and answers some in its
// stead. It asks for no credentials, and is an administrator of the member. Whoever wants a
// test's clean-up to pass through it starts it before the arena.
type gateway struct {
	server *httptest.Server
	answer atomic.Pointer[answer]
}

// answer answers a request, or reports that it leaves that to the member.
type answer func(w http.ResponseWriter, r *http.Request) bool

// startGateway starts a gateway that passes everything. It ends with the test.
func startGateway(t *testing.T, cluster *fleet.Cluster) *gateway {
	t.Helper()
	config := cluster.RESTConfig()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{}
	pass := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // what a watch tells is passed at once
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known := g.answer.Load(); known == nil || !(*known)(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	g.server.EnableHTTP2 = true
	g.server.StartTLS()
	t.Cleanup(func() {
		g.server.CloseClientConnections()
		g.server.Close()
	})
	return g
}

// answers has the gateway answer requests from now on, and ends the connections of before;
// nil has it pass everything again.
func (g *gateway) answers(do answer) {
	if do == nil {
		g.answer.Store(nil)
		return
	}
	g.answer.Store(&do)
	g.server.CloseClientConnections()
}

// kubeconfig is one with the gateway for a server.
func (g *gateway) kubeconfig(t *testing.T, token string) []byte {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["gateway"] = &clientcmdapi.Cluster{
		Server: g.server.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{
			Type: "CERTIFICATE", Bytes: g.server.Certificate().Raw,
		}),
	}
	config.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["gateway"] = &clientcmdapi.Context{Cluster: "gateway", AuthInfo: "user"}
	config.CurrentContext = "gateway"
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// behindGateway is an arena with the member "eu" behind a gateway.
func behindGateway(t *testing.T) (*arena, *gateway, *site) {
	t.Helper()
	gate := startGateway(t, shared.Member("eu"))
	a := emptyArena(t, shared, nameFor(t))
	eu := a.registerWith("eu", shared.Member("eu"), gate.kubeconfig(t, "any"))
	a.awaitReady("eu")
	return a, gate, eu
}

// registerWith registers a cluster with a kubeconfig of the test's own, under any name.
func (a *arena) registerWith(name string, cluster *fleet.Cluster, kubeconfig []byte) *site {
	a.Helper()
	s := a.addSite(name, cluster)
	a.create(a.hub, kubeconfigSecret(a.namespace, name, map[string][]byte{"value": kubeconfig}))
	return s
}
