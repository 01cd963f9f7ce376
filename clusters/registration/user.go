package registration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

type namedUser struct {
	name string
	*clientcmdapi.AuthInfo
}

func (u namedUser) field(name string) string { return within("users[%s].%s", u.name, name) }

// fill copies inline credentials and returns the life of those that expire first.
func (u namedUser) fill(config *rest.Config) (*Life, *RefusedError) {
	if refused := u.checkInline(); refused != nil {
		return nil, refused
	}
	certificate, refused := u.checkKeyPair()
	if refused != nil {
		return nil, refused
	}
	config.CertData = u.ClientCertificateData
	config.KeyData = u.ClientKeyData
	config.BearerToken = u.Token
	config.Username = u.Username
	config.Password = u.Password
	config.Impersonate = rest.ImpersonationConfig{
		UserName: u.Impersonate,
		UID:      u.ImpersonateUID,
		Groups:   u.ImpersonateGroups,
		Extra:    u.ImpersonateUserExtra,
	}
	return shorter(certificate, tokenLife(u.Token)), nil
}

// checkInline refuses what reaches out of the Secret, and a user without credentials.
func (u namedUser) checkInline() *RefusedError {
	switch {
	case u.Exec != nil:
		return refuse(ReasonExec, u.field("exec"), "the hub runs no programs for a member; use a client certificate or a token")
	case u.AuthProvider != nil:
		return refuse(ReasonAuthProvider, u.field("auth-provider"), "the hub runs no plug-ins for a member; use a client certificate or a token")
	case u.ClientCertificate != "":
		return refuseFile(u.field("client-certificate"), "client-certificate-data")
	case u.ClientKey != "":
		return refuseFile(u.field("client-key"), "client-key-data")
	case u.TokenFile != "":
		return refuseFile(u.field("tokenFile"), "token")
	case len(u.ClientCertificateData) == 0 && u.Token == "" && u.Username == "":
		return refuse(ReasonNoCredentials, within("users[%s]", u.name), "it has neither a client certificate nor a token nor a password")
	case u.Token != "" && u.Username != "":
		return refuse(ReasonConflictingUser, within("users[%s]", u.name), "it has a token and a password; remove one of the two")
	}
	return nil
}

func (u namedUser) checkKeyPair() (*Life, *RefusedError) {
	if len(u.ClientCertificateData) == 0 && len(u.ClientKeyData) == 0 {
		return nil, nil
	}
	switch {
	case len(u.ClientKeyData) == 0:
		return nil, refuse(ReasonInvalidKeyPair, u.field("client-key-data"), "the client certificate has no key")
	case !hasCertificate(u.ClientCertificateData):
		return nil, refuse(ReasonInvalidKeyPair, u.field("client-certificate-data"), "it holds no PEM certificate")
	}
	pair, err := tls.X509KeyPair(u.ClientCertificateData, u.ClientKeyData)
	if err != nil {
		return nil, refuse(ReasonInvalidKeyPair, u.field("client-key-data"), "it is not the PEM key of the client certificate")
	}
	return &Life{Begins: pair.Leaf.NotBefore, Ends: pair.Leaf.NotAfter}, nil
}

func hasCertificate(data []byte) bool {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		_, err := x509.ParseCertificate(block.Bytes)
		return err == nil
	}
	return false
}
