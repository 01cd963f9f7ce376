package e2e

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/syncline-dev/syncline/test/fleet"
)

// door is an address of a member's API server that can be shut for those who come, while
// those who are in stay.
type door struct {
	net.Listener
	target  string
	passing sync.WaitGroup
}

func openDoor(t *testing.T, cluster *fleet.Cluster) *door {
	t.Helper()
	target, err := url.Parse(cluster.RESTConfig().Host)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{Listener: listener, target: target.Host}
	d.passing.Go(d.admit)
	t.Cleanup(func() {
		d.Close()
		d.passing.Wait()
	})
	return d
}

func (d *door) admit() {
	for {
		client, err := d.Accept()
		if err != nil {
			return // it was shut
		}
		d.passing.Go(func() { d.pass(client) })
	}
}

// pass copies both ways until either side ends.
func (d *door) pass(client net.Conn) {
	defer closeConn(client)
	server, err := net.Dial("tcp", d.target) //nolint:noctx // it lasts as long as the client
	if err != nil {
		return
	}
	defer closeConn(server)
	var copying sync.WaitGroup
	defer copying.Wait()
	both := func(to, from net.Conn) {
		defer closeConn(to)
		_, _ = io.Copy(to, from) // its end, however it comes, is the end
	}
	copying.Go(func() { both(server, client) })
	copying.Go(func() { both(client, server) })
}

// closeConn closes a connection that may have ended by itself.
func closeConn(conn net.Conn) { _ = conn.Close() }

// kubeconfig is a kubeconfig of the cluster with the door for a server.
func (d *door) kubeconfig(t *testing.T, of []byte) []byte {
	t.Helper()
	config, err := clientcmd.Load(of)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + d.Addr().String()
	}
	return must(t)(clientcmd.Write(*config))
}

// The old address serves what is connected, and nobody else. The Secret is rotated: the
// member is served at the new address, and its watches go on there from where they were.
func TestF03RotationResumesWatches(t *testing.T) {
	t.Parallel()
	cluster := shared.Member("us")
	old := openDoor(t, cluster)
	a := emptyArena(t, shared, nameFor(t))
	us := a.registerWith("us", cluster, old.kubeconfig(t, must(t)(cluster.KubeconfigFor("f03-old", "system:masters"))))
	a.awaitReady("us")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	old.Close()
	a.apply(webLayer, "$GREETING", "good morning")
	us.expectGreeting("good morning") // over the connection that there was
	since := cluster.Audit().End()
	a.rotate("us", must(t)(cluster.KubeconfigFor("f03-next", "system:masters")))
	a.eventually("the new user watches: it sees what somebody did, and mends it", func(g gomega.Gomega) {
		us.apply("somebody", replaced(webManifest, "$NS", a.namespace, "$GREETING", "meddled"))
		events, _, err := cluster.Audit().Events(since, us.ours, fleet.ByUser("f03-next"), fleet.Writes)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(events).NotTo(gomega.BeEmpty())
	})
	us.expectGreeting("good morning")

	// A watch is logged when it ends.
	a.rotate("us", must(t)(cluster.KubeconfigFor("f03-last", "system:masters")))
	a.eventually("the watches are logged", func(g gomega.Gomega) {
		events, _, err := cluster.Audit().Events(since, fleet.ByUser("f03-next"), isWatch)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(events).NotTo(gomega.BeEmpty())
	})
	a.now("nothing was listed", func(g gomega.Gomega) {
		lists, _, err := cluster.Audit().Events(since, fleet.ByUser("f03-next"), isList)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(described(lists)).To(gomega.BeEmpty())
	})
}

const webManifest = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: $NS}, data: {greeting: $GREETING}}`

func isWatch(e *auditv1.Event) bool { return e.Verb == "watch" }

// isList passes lists, and watches that begin with one.
func isList(e *auditv1.Event) bool {
	return e.Verb == "list" || strings.Contains(e.RequestURI, "sendInitialEvents")
}
