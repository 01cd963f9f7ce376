package member

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/clusters/credential"
)

func answer(code int32, message string, details *metav1.StatusDetails) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: message, Details: details}}
}

// over wraps an error as it comes out of http.Client.
func over(err error) error {
	return &url.Error{Op: "Patch", URL: "https://a.fleet.member.invalid/", Err: &credential.Error{Endpoint: "10.0.0.1:6443", Err: err}}
}

func TestClassify(t *testing.T) {
	terminating := &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "NamespaceTerminating"}}}
	for name, test := range map[string]struct {
		err     error
		class   Class
		reason  string
		message string // where it is ours
	}{
		"not owner": {over(errEnded), Held, ReasonNotOwner, "this replica does not own the member"},
		"paused":    {over(&refusal{ErrPaused, "by Federation default"}), Held, ReasonPaused, "writing is paused by Federation default"},
		"replaced":  {fmt.Errorf("%w (409)", ErrReplaced), Conflict, ReasonReplaced, ""},
		"away": {
			&refusal{ErrUnreachable, "(10.0.0.1:6443 refuses connections)"}, Transient, ReasonUnreachable,
			"the member is unreachable (10.0.0.1:6443 refuses connections)",
		},
		"kind not served": {
			notServed(widgetKind), Terminal, ReasonKindNotServed,
			"the member does not serve kind Widget in example.com/v1: install its CustomResourceDefinition or remove the object",
		},
		"resource not served": {answer(404, "the server could not find the requested resource", nil), Terminal, ReasonKindNotServed, ""},
		"namespace missing": {
			answer(404, `namespaces "shop" not found`, &metav1.StatusDetails{Name: "shop", Kind: "namespaces"}),
			Transient, ReasonNamespaceMissing, `the namespace "shop" does not exist`,
		},
		"object missing":          {answer(404, "", &metav1.StatusDetails{Name: "a", Kind: "configmaps"}), Conflict, ReasonNotFound, ""},
		"namespace terminating":   {answer(403, "forbidden", terminating), Transient, ReasonNamespaceTerminating, ""},
		"forbidden":               {answer(403, `User "hub" cannot patch resource "roles"`, nil), Terminal, ReasonForbidden, ""},
		"quota":                   {answer(403, "exceeded quota: q", nil), Transient, ReasonQuotaExceeded, ""},
		"unauthorized":            {answer(401, "Unauthorized", nil), Transient, ReasonUnauthorized, ""},
		"validation":              {answer(422, "spec.replicas: Invalid value", nil), Terminal, ReasonInvalid, ""},
		"unknown field":           {answer(500, "failed to create typed patch object: .spec.x: field not declared in schema", nil), Terminal, ReasonInvalid, ""},
		"immutable":               {answer(422, "spec.selector: Invalid value: {}: field is immutable", nil), Terminal, ReasonImmutable, ""},
		"too large":               {answer(413, "Request entity too large", nil), Terminal, ReasonTooLarge, ""},
		"too large for etcd":      {answer(500, "etcdserver: request is too large", nil), Terminal, ReasonTooLarge, ""},
		"webhook says no":         {answer(403, `admission webhook "w" denied the request: no`, nil), Terminal, ReasonAdmissionDenied, ""},
		"policy says no":          {answer(422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", nil), Terminal, ReasonAdmissionDenied, ""},
		"webhook away":            {answer(500, `Internal error occurred: failed calling webhook "w": dial tcp 10.1.2.3:443`, nil), Transient, ReasonWebhookUnavailable, `the member cannot call its admission webhook "w"`},
		"throttled":               {answer(429, "slow down", nil), Transient, ReasonThrottled, ""},
		"server error":            {answer(503, "etcd leader changed at 12:00", nil), Transient, ReasonServerError, "the member's API server failed with code 503"},
		"conflict":                {answer(409, "changed", nil), Conflict, ReasonConflict, ""},
		"time out":                {over(context.DeadlineExceeded), Transient, ReasonTimeout, "10.0.0.1:6443 does not answer in time"},
		"connection refused":      {over(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), Transient, ReasonUnreachable, "10.0.0.1:6443 refuses connections"},
		"name does not resolve":   {over(&net.DNSError{Err: "no such host", Name: "a.example"}), Transient, ReasonUnreachable, "10.0.0.1:6443 has a name that does not resolve"},
		"foreign authority":       {over(x509.UnknownAuthorityError{}), Transient, ReasonUnreachable, "10.0.0.1:6443 shows a certificate that the kubeconfig's authority did not sign"},
		"connection cut":          {over(fmt.Errorf("read tcp 127.0.0.1:41234->10.0.0.1:6443: %w", syscall.ECONNRESET)), Transient, ReasonUnreachable, "10.0.0.1:6443 closed the connection"},
		"anything else varies":    {over(errors.New("stream 17 at 12:00")), Transient, ReasonUnreachable, "10.0.0.1:6443 cannot be spoken to"},
		"an answer without sense": {errTest, Transient, ReasonUnreachable, "the member cannot be spoken to"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Classify(fmt.Errorf("wrapped: %w", test.err))
			if f.Class != test.class || f.Reason != test.reason || f.Message == "" {
				t.Errorf("got %+v, want %s %s", f, test.class, test.reason)
			}
			if test.message != "" && f.Message != test.message {
				t.Errorf("says %q, want %q", f.Message, test.message)
			}
		})
	}
	if f := Classify(nil); f != (Failure{}) {
		t.Errorf("nil is %+v", f)
	}
}
