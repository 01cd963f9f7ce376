package e2e

import (
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Kubeconfigs that are none, or that would have the hub do more than reach a member: each is
// refused by the name of the field, and nothing of it is done.
func TestF06KubeconfigThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	proxy, called := listenForCalls(t)
	touched := filepath.Join(t.TempDir(), "touched")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+touched+"\n"), 0o700); err != nil { //nolint:gosec // it is to be run, if anything is wrong
		t.Fatal(err)
	}
	a := emptyArena(t, shared, nameFor(t))
	const kubeconfig = `
apiVersion: v1
kind: Config
$CONTEXT
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {$CLUSTER}}]
users: [{name: u, user: {$USER}}]
`
	const server, context = `server: "https://127.0.0.1:1"`, "current-context: c"
	cases := map[string]struct {
		context, cluster, user string
		complaint
	}{
		"no-context":    {"", server, "token: t", complaint{"NoCurrentContext", []string{"current-context"}}},
		"other-context": {"current-context: d", server, "token: t", complaint{"ContextNotFound", []string{"current-context", `"d"`}}},
		"proxy":         {context, server + `, proxy-url: "http://` + proxy + `"`, "token: t", complaint{"ProxyURL", []string{"clusters[c].proxy-url"}}},
		"plain-http":    {context, `server: "http://127.0.0.1:1"`, "token: t", complaint{"ServerNotHTTPS", []string{"clusters[c].server"}}},
		"ca-file":       {context, server + `, certificate-authority: /etc/hosts`, "token: t", complaint{"FileReference", []string{"certificate-authority-data"}}},
		"token-file":    {context, server, "tokenFile: /etc/hosts", complaint{"FileReference", []string{"users[u]", "tokenFile"}}},
		"program": {
			context, server, `exec: {apiVersion: client.authentication.k8s.io/v1, command: "` + program + `", interactiveMode: Never}`,
			complaint{"ExecPlugin", []string{"users[u]", "exec"}},
		},
		"auth-provider": {context, server, "auth-provider: {name: gcp, config: {cmd-path: " + program + "}}", complaint{"AuthProvider", []string{"users[u]", "auth-provider"}}},
	}
	for member, bad := range cases {
		content := replaced(kubeconfig, "$CONTEXT", bad.context, "$CLUSTER", bad.cluster, "$USER", bad.user)
		a.create(a.hub, kubeconfigSecret(a.namespace, member, map[string][]byte{"value": []byte(content)}))
	}
	for member, bad := range cases {
		a.eventually("member "+member+" complains of "+bad.reason, func(g gomega.Gomega) {
			registered := condition(a.member(g, member).Status.Conditions, v1alpha1.ConditionRegistered)
			g.Expect(registered.Status).To(gomega.Equal(metav1.ConditionFalse))
			bad.check(g, registered.Reason, registered.Message)
		})
	}
	expectNoFile(t, touched)
	if n := called.Load(); n > 0 {
		t.Errorf("the proxy was called %d times", n)
	}
}

// listenForCalls listens on an address and counts who comes.
func listenForCalls(t *testing.T) (address string, calls *atomic.Int32) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	calls = &atomic.Int32{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			calls.Add(1)
			closeConn(conn)
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String(), calls
}
