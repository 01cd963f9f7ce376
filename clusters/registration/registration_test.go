package registration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/clusters/registration"
)

// canary stands in every value that must not be shown.
const canary = "c4n4ry"

// keyPair is a self-signed client certificate with its key.
type keyPair struct{ cert, key []byte }

func newKeyPair(t *testing.T, notAfter time.Time) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "hub"},
		NotBefore:    notAfter.Add(-time.Hour),
		NotAfter:     notAfter,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}
}

func jwt(expires time.Time) string {
	claims := fmt.Sprintf(`{"sub":%q,"exp":%d}`, canary, expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "." + canary
}

// parts are the pieces of a kubeconfig that a test may spoil.
type parts struct {
	secret  *corev1.Secret
	config  *clientcmdapi.Config
	cluster *clientcmdapi.Cluster
	user    *clientcmdapi.AuthInfo
	other   keyPair // somebody else's
}

// secretWith returns a good kubeconfig Secret of member fleet/a after a change to it.
func secretWith(t *testing.T, pair keyPair, spoil func(*parts)) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: "a-kubeconfig",
			Labels: map[string]string{registration.LabelCluster: "a"},
		},
		Type: registration.SecretType,
	}
	config := &clientcmdapi.Config{
		Kind: "Config", APIVersion: "v1",
		CurrentContext: "admin@a",
		Contexts:       []clientcmdapi.NamedContext{{Name: "admin@a", Context: clientcmdapi.Context{Cluster: "a", AuthInfo: "admin"}}},
		Clusters: []clientcmdapi.NamedCluster{{Name: "a", Cluster: clientcmdapi.Cluster{
			Server: "https://a.example:6443", CertificateAuthorityData: pair.cert,
		}}},
		AuthInfos: []clientcmdapi.NamedAuthInfo{{Name: "admin", AuthInfo: clientcmdapi.AuthInfo{
			ClientCertificateData: pair.cert, ClientKeyData: pair.key,
		}}},
	}
	p := &parts{secret: secret, config: config, cluster: &config.Clusters[0].Cluster, user: &config.AuthInfos[0].AuthInfo}
	spoil(p)
	value, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{registration.SecretKey: value}
	}
	return secret
}

func data(value string) func(*parts) {
	return func(p *parts) { p.secret.Data = map[string][]byte{registration.SecretKey: []byte(value)} }
}

// refusals are by reason, with what sets cases of one reason apart behind it.
var refusals = map[string]struct {
	spoil     func(*parts)
	field     string
	notMember bool
}{
	registration.ReasonNotKubeconfig: {
		notMember: true, field: "metadata.name",
		spoil: func(p *parts) { p.secret.Name = "a-ca" },
	},
	registration.ReasonLabelMissing: {
		notMember: true, field: "metadata.labels",
		spoil: func(p *parts) { p.secret.Labels = nil },
	},
	registration.ReasonLabelMismatch: {
		notMember: true, field: "metadata.labels",
		spoil: func(p *parts) { p.secret.Labels[registration.LabelCluster] = "b" },
	},
	registration.ReasonWrongType: {
		notMember: true, field: "type",
		spoil: func(p *parts) { p.secret.Type = corev1.SecretTypeOpaque },
	},
	registration.ReasonNoValue: {
		field: "data.value",
		spoil: func(p *parts) { p.secret.Data = map[string][]byte{"kubeconfig": []byte(canary)} },
	},
	registration.ReasonEmptyValue: {field: "data.value", spoil: data("")},
	registration.ReasonNotYAML:    {field: "data.value", spoil: data("\t" + canary + ": [")},
	registration.ReasonNotConfig:  {field: "data.value", spoil: data(canary)},
	registration.ReasonNotConfig + " of another kind": {
		field: "data.value",
		spoil: data("apiVersion: v1\nkind: Pod\nmetadata: {name: " + canary + "}\n"),
	},
	registration.ReasonNoContext: {
		field: "current-context",
		spoil: func(p *parts) { p.config.CurrentContext = "" },
	},
	registration.ReasonContextNotFound: {
		field: "current-context",
		spoil: func(p *parts) { p.config.CurrentContext = "other" },
	},
	registration.ReasonClusterNotFound: {
		field: "contexts[admin@a].cluster",
		spoil: func(p *parts) { p.config.Contexts[0].Context.Cluster = "other" },
	},
	registration.ReasonUserNotFound: {
		field: "contexts[admin@a].user",
		spoil: func(p *parts) { p.config.Contexts[0].Context.AuthInfo = "other" },
	},
	registration.ReasonNoServer: {
		field: "clusters[a].server",
		spoil: func(p *parts) { p.cluster.Server = "" },
	},
	registration.ReasonInvalidServer: {
		field: "clusters[a].server",
		spoil: func(p *parts) { p.cluster.Server = "https://admin:" + canary + "@a.example" },
	},
	registration.ReasonInvalidServer + " without scheme": {
		field: "clusters[a].server",
		spoil: func(p *parts) { p.cluster.Server = "10.0.0.1:6443" },
	},
	registration.ReasonNotHTTPS: {
		field: "clusters[a].server",
		spoil: func(p *parts) { p.cluster.Server = "http://a.example" },
	},
	registration.ReasonFile + " of the authority": {
		field: "clusters[a].certificate-authority",
		spoil: func(p *parts) { p.cluster.CertificateAuthority = "/etc/passwd" },
	},
	registration.ReasonInvalidCA: {
		field: "clusters[a].certificate-authority-data",
		spoil: func(p *parts) { p.cluster.CertificateAuthorityData = []byte(canary) },
	},
	registration.ReasonConflictingTLS: {
		field: "clusters[a].insecure-skip-tls-verify",
		spoil: func(p *parts) { p.cluster.InsecureSkipTLSVerify = true },
	},
	registration.ReasonProxy: {
		field: "clusters[a].proxy-url",
		spoil: func(p *parts) { p.cluster.ProxyURL = "http://me:" + canary + "@proxy" },
	},
	registration.ReasonExec: {
		field: "users[admin].exec",
		spoil: func(p *parts) {
			p.user.Exec = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: canary, InteractiveMode: "Never"}
		},
	},
	registration.ReasonAuthProvider: {
		field: "users[admin].auth-provider",
		spoil: func(p *parts) { p.user.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: canary} },
	},
	registration.ReasonFile + " of the certificate": {
		field: "users[admin].client-certificate",
		spoil: func(p *parts) { p.user.ClientCertificate = "/tls.crt" },
	},
	registration.ReasonFile + " of the key": {
		field: "users[admin].client-key",
		spoil: func(p *parts) { p.user.ClientKey = "/tls.key" },
	},
	registration.ReasonFile + " of the token": {
		field: "users[admin].tokenFile",
		spoil: func(p *parts) { p.user.TokenFile = "/token" },
	},
	registration.ReasonNoCredentials: {
		field: "users[admin]",
		spoil: func(p *parts) { *p.user = clientcmdapi.AuthInfo{} },
	},
	registration.ReasonConflictingUser: {
		field: "users[admin]",
		spoil: func(p *parts) { p.user.Token, p.user.Username = canary, "me" },
	},
	registration.ReasonInvalidKeyPair: {
		field: "users[admin].client-key-data",
		spoil: func(p *parts) { p.user.ClientKeyData = p.other.key },
	},
	registration.ReasonInvalidKeyPair + " without key": {
		field: "users[admin].client-key-data",
		spoil: func(p *parts) { p.user.ClientKeyData = nil },
	},
	registration.ReasonInvalidKeyPair + " without PEM": {
		field: "users[admin].client-certificate-data",
		spoil: func(p *parts) { p.user.ClientCertificateData = []byte(canary) },
	},
}

func TestRefusals(t *testing.T) {
	pair, other := newKeyPair(t, time.Now().Add(time.Hour)), newKeyPair(t, time.Now().Add(time.Hour))
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			reason, _, _ := strings.Cut(name, " ")
			secret := secretWith(t, pair, func(p *parts) {
				p.other = other
				test.spoil(p)
			})
			_, err := registration.FromSecret(secret, registration.Options{})
			var refused *registration.RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if refused.Reason != reason || !strings.HasSuffix(refused.Field, test.field) {
				t.Errorf("refused for %s at %q, want %s at %q", refused.Reason, refused.Field, reason, test.field)
			}
			if refused.NotMember() != test.notMember {
				t.Errorf("NotMember is %v", refused.NotMember())
			}
			if text := err.Error(); strings.Contains(text, canary) || !strings.Contains(text, "fleet/"+secret.Name) {
				t.Errorf("the text names no Secret, or a value: %s", text)
			}
		})
	}
}

func TestMemberOf(t *testing.T) {
	pair := newKeyPair(t, time.Now().Add(time.Hour))
	member, ok := registration.MemberOf(secretWith(t, pair, func(*parts) {}))
	if !ok || member.String() != "fleet/a" {
		t.Errorf("got %v, %v, want fleet/a", member, ok)
	}
	mismatched := secretWith(t, pair, func(p *parts) { p.secret.Labels[registration.LabelCluster] = "b" })
	if _, ok := registration.MemberOf(mismatched); ok {
		t.Error("a Secret whose label disagrees with its name is a member's")
	}
}

func TestRegistration(t *testing.T) {
	pair := newKeyPair(t, time.Now().Add(time.Hour))
	reg, err := registration.FromSecret(secretWith(t, pair, func(p *parts) {
		p.cluster.TLSServerName = "kubernetes"
		p.user.Token = canary
		p.user.Impersonate = "someone"
	}), registration.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := reg.Config
	if reg.Member.String() != "fleet/a" || config.Host != "https://a.example:6443" || config.ServerName != "kubernetes" ||
		config.BearerToken != canary || config.Impersonate.UserName != "someone" || string(config.KeyData) != string(pair.key) {
		t.Errorf("lost something of the kubeconfig: %v", config)
	}
	again, err := registration.FromSecret(secretWith(t, pair, func(p *parts) { p.user.Token = "other" }), registration.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if reg.Digest == again.Digest {
		t.Error("another kubeconfig has the same digest")
	}
}

// F6: controllers put keys of their own beside the kubeconfig.
func TestKeysBesideTheKubeconfigDoNotMatter(t *testing.T) {
	pair := newKeyPair(t, time.Now().Add(time.Hour))
	secret := secretWith(t, pair, func(*parts) {})
	secret.Data["aaa"] = []byte("first")
	if _, err := registration.FromSecret(secret, registration.Options{}); err != nil {
		t.Error(err)
	}
}

func TestExpires(t *testing.T) {
	soon, late := time.Now().Add(time.Hour).Truncate(time.Second), time.Now().Add(2*time.Hour).Truncate(time.Second)
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	tests := map[string]struct {
		cert *time.Time
		user clientcmdapi.AuthInfo
		want *time.Time
	}{
		"certificate":           {cert: &soon, want: &soon},
		"expired certificate":   {cert: &past, want: &past},
		"token first":           {cert: &late, user: clientcmdapi.AuthInfo{Token: jwt(soon)}, want: &soon},
		"certificate first":     {cert: &soon, user: clientcmdapi.AuthInfo{Token: jwt(late)}, want: &soon},
		"opaque token":          {user: clientcmdapi.AuthInfo{Token: canary}},
		"token that looks like": {user: clientcmdapi.AuthInfo{Token: "a.b.c"}},
		"password":              {user: clientcmdapi.AuthInfo{Username: "a", Password: canary}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pair := newKeyPair(t, late)
			if test.cert != nil {
				pair = newKeyPair(t, *test.cert)
				test.user.ClientCertificateData, test.user.ClientKeyData = pair.cert, pair.key
			}
			reg, err := registration.FromSecret(secretWith(t, pair, func(p *parts) { *p.user = test.user }), registration.Options{})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case (reg.Life == nil) != (test.want == nil):
				t.Errorf("got %v, want %v", reg.Life, test.want)
			case reg.Life != nil && !reg.Life.Ends.Equal(*test.want):
				t.Errorf("got %v, want %v", reg.Life.Ends, test.want)
			}
		})
	}
}

func TestExpiringFrom(t *testing.T) {
	ends := time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		lived, notice time.Duration // of the whole life, and before its end
	}{
		"certificate of a year":    {365 * day, 30 * day},
		"certificate of a month":   {30 * day, 3 * day},
		"token of an hour":         {time.Hour, 6 * time.Minute},
		"token of unknown begin":   {0, 30 * day},
		"certificate of ten years": {3650 * day, 30 * day},
	} {
		t.Run(name, func(t *testing.T) {
			life := registration.Life{Ends: ends}
			if row.lived > 0 {
				life.Begins = ends.Add(-row.lived)
			}
			if got := ends.Sub(life.ExpiringFrom()); got != row.notice {
				t.Errorf("expiring for %s, want %s", got, row.notice)
			}
		})
	}
}

func TestAllowProxy(t *testing.T) {
	pair := newKeyPair(t, time.Now().Add(time.Hour))
	allowed := registration.Options{AllowProxy: true}
	reg, err := registration.FromSecret(secretWith(t, pair, func(p *parts) { p.cluster.ProxyURL = "http://proxy:3128" }), allowed)
	if err != nil {
		t.Fatal(err)
	}
	if proxy, err := reg.Config.Proxy(nil); err != nil || proxy.Host != "proxy:3128" {
		t.Errorf("goes through %v (%v)", proxy, err)
	}
	_, err = registration.FromSecret(secretWith(t, pair, func(p *parts) { p.cluster.ProxyURL = "ftp://proxy" }), allowed)
	var refused *registration.RefusedError
	if !errors.As(err, &refused) || refused.Reason != registration.ReasonInvalidProxy {
		t.Errorf("got %v, want %s", err, registration.ReasonInvalidProxy)
	}
}
