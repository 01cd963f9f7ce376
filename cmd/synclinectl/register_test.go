package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/clusters/registration"
)

// TestRegisterStoresWhatTheFilesHold registers from a kubeconfig that names files beside it
// and other clusters, and finds a Secret that stands alone.
func TestRegisterStoresWhatTheFilesHold(t *testing.T) {
	dir := t.TempDir()
	certificate, key := keyPair(t)
	for name, content := range map[string][]byte{"ca.crt": certificate, "user.crt": certificate, "user.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["edge"] = &clientcmdapi.Cluster{Server: "https://edge.example.com", CertificateAuthority: "ca.crt"}
	config.AuthInfos["hub"] = &clientcmdapi.AuthInfo{ClientCertificate: "user.crt", ClientKey: "user.key"}
	config.AuthInfos["boss"] = &clientcmdapi.AuthInfo{Token: "the keys of the kingdom"}
	config.Contexts["edge"] = &clientcmdapi.Context{Cluster: "edge", AuthInfo: "hub"}
	config.Contexts["kingdom"] = &clientcmdapi.Context{Cluster: "edge", AuthInfo: "boss"}
	config.CurrentContext = "kingdom"
	file := filepath.Join(dir, "config")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}

	h := &fakeHub{client: hubOf(t, "")}
	said := typed(h, []string{
		"synclinectl", "register", "edge", "--from-kubeconfig", file, "--from-context", "edge", "--labels", "region=eu", "-n", "fleet",
	})
	var secret corev1.Secret
	if err := h.client.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "edge-kubeconfig"}, &secret); err != nil {
		t.Fatalf("%v; the command said: %s", err, said)
	}
	want := map[string]string{"cluster.x-k8s.io/cluster-name": "edge", "region": "eu"}
	if diff := cmp.Diff(want, secret.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	member, err := registration.FromSecret(&secret, registration.Options{})
	if err != nil {
		t.Fatalf("the hub refuses it: %v", err)
	}
	if string(member.Config.CAData) != string(certificate) || string(member.Config.KeyData) != string(key) {
		t.Error("the Secret does not hold what the files hold")
	}
	stored, err := clientcmd.Load(secret.Data["value"])
	if err != nil {
		t.Fatal(err)
	}
	if len(stored.AuthInfos) != 1 || len(stored.Contexts) != 1 {
		t.Errorf("the Secret holds more than one context: users %d, contexts %d", len(stored.AuthInfos), len(stored.Contexts))
	}
}

// keyPair is a self-signed PEM certificate and its key.
func keyPair(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
}
