package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

const twoContexts = `
apiVersion: v1
kind: Config
current-context: quiet
contexts:
- {name: quiet, context: {cluster: hub, user: me}}
- {name: settled, context: {cluster: hub, user: me, namespace: fleet}}
clusters:
- {name: hub, cluster: {server: "https://hub.example.com"}}
users:
- {name: me, user: {token: not-a-real-token}}
`

func TestNamespaceIsTheOneThatSomebodyChose(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(twoContexts), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                             "",
		"--context=settled":            "fleet",
		"--context=settled -n other":   "other",
		"--namespace=other":            "other",
		"--context=unheard-of":         "",
		"--context=settled --as=alice": "fleet",
	} {
		h := newKubeconfigHub()
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		h.bindFlags(flags)
		if err := flags.Parse(append(strings.Fields(args), "--kubeconfig="+file)); err != nil {
			t.Fatal(err)
		}
		got, err := h.Namespace()
		if err != nil || got != want {
			t.Errorf("%q: got namespace %q, error %v; want %q", args, got, err, want)
		}
	}
}

func TestNoKubeconfigSaysHowToNameOne(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "nowhere"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err := newKubeconfigHub().Client()
	if err == nil || !strings.Contains(err.Error(), "--kubeconfig") {
		t.Errorf("got error %v, want one that names --kubeconfig", err)
	}
}
