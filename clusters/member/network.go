package member

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/syncline-dev/syncline/clusters/credential"
)

// stableText is the text of an error without what differs from one attempt to the next:
// ports of our own side, times of day, request URLs. It names the endpoint where it knows.
func stableText(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return classifyStatus(status.Status(), err).Message
	}
	var at *credential.Error
	if errors.As(err, &at) {
		return at.Endpoint + " " + symptom(at.Err)
	}
	return "the member " + symptom(err)
}

// symptom completes the sentence "<endpoint> ...".
func symptom(err error) string {
	var (
		dns      *net.DNSError
		expired  x509.CertificateInvalidError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		alert    tls.AlertError
	)
	switch {
	case errors.As(err, &dns):
		return "has a name that does not resolve"
	case errors.As(err, &expired) && expired.Reason == x509.Expired:
		return "shows a certificate that has expired or is not valid yet"
	case errors.As(err, &unknown):
		return "shows a certificate that the kubeconfig's authority did not sign"
	case errors.As(err, &hostname):
		return "shows a certificate for another name"
	case errors.As(err, &alert):
		return "does not accept the client certificate"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refuses connections"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "cannot be reached from here"
	case isTimeout(err), errors.Is(err, errOutOfSight):
		return "does not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "closed the connection"
	}
	return "cannot be spoken to"
}

func isTimeout(err error) bool {
	var at *url.Error
	if errors.As(err, &at) && at.Timeout() {
		return true
	}
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout()
}
