package fleet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"time"
)

// certificateLifetime is longer than any fleet lives.
const certificateLifetime = 10 * 365 * 24 * time.Hour

// keyPair is a PEM certificate and its PEM private key.
type keyPair struct {
	cert, key []byte
}

// authority signs the certificates of one cluster.
type authority struct {
	pem  keyPair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(cluster string) (*authority, error) {
	template := newTemplate(pkix.Name{CommonName: cluster + "-ca"})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate CA key: %w", err)
	}
	pair, err := sign(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("sign CA certificate: %w", err)
	}
	block, _ := pem.Decode(pair.cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse CA certificate: %w", err)
	}
	return &authority{pem: pair, cert: cert, key: key}, nil
}

// client returns a certificate that authenticates as the user in the groups.
func (a *authority) client(user string, groups ...string) (keyPair, error) {
	template := newTemplate(pkix.Name{CommonName: user, Organization: groups})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// server returns a certificate for an API server that listens on the loopback
// address and whose Service is the first one of the range.
func (a *authority) server(services netip.Prefix) (keyPair, error) {
	template := newTemplate(pkix.Name{CommonName: "kube-apiserver"})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{
		net.ParseIP(loopback),
		services.Masked().Addr().Next().AsSlice(),
	}
	template.DNSNames = []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (keyPair, error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("generate key of %q: %w", template.Subject.CommonName, err)
	}
	pair, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return keyPair{}, fmt.Errorf("sign certificate of %q: %w", template.Subject.CommonName, err)
	}
	return pair, nil
}

// newServiceAccountKey returns the key that signs service accounts' tokens, and
// the public key that verifies them in place of a certificate.
func newServiceAccountKey() (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("generate service account key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return keyPair{}, fmt.Errorf("encode service account key: %w", err)
	}
	private, err := encodeKey(key)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{cert: encode("PUBLIC KEY", public), key: private}, nil
}

func newTemplate(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject:   subject,
		NotBefore: now.Add(-time.Hour),
		NotAfter:  now.Add(certificateLifetime),
	}
}

func sign(template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) (keyPair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return keyPair{}, fmt.Errorf("choose serial number: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return keyPair{}, fmt.Errorf("create certificate: %w", err)
	}
	private, err := encodeKey(key)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{cert: encode("CERTIFICATE", der), key: private}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode private key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
