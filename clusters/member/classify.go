package member

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Classify says what an error from a member, or from the guard before it, means. Of nil it
// is the zero Failure.
func Classify(err error) Failure {
	if err == nil {
		return Failure{}
	}
	var (
		own   *Error
		watch *WatchError
	)
	switch {
	case errors.As(err, &own):
		return own.Failure
	case errors.As(err, &watch):
		return watch.Failure
	}
	if f, ok := classifyOurs(err); ok {
		return f
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return classifyStatus(status.Status(), err)
	}
	if isTimeout(err) {
		return Failure{Transient, ReasonTimeout, stableText(err)}
	}
	return Failure{Transient, ReasonUnreachable, stableText(err)}
}

// classifyOurs knows the errors that are raised on this side.
func classifyOurs(err error) (Failure, bool) {
	var (
		refused *refusal
		scope   *scopeError
		name    *nameError
		many    *tooManyError
		unclear *discoveryError
	)
	errors.As(err, &refused)
	switch {
	case errors.Is(err, ErrNotOwner):
		return Failure{Held, ReasonNotOwner, ErrNotOwner.Error()}, true
	case refused != nil && errors.Is(refused, ErrPaused):
		return Failure{Held, ReasonPaused, refused.Error()}, true
	case refused != nil:
		return Failure{Transient, ReasonUnreachable, refused.Error()}, true
	case errors.Is(err, ErrReplaced):
		return Failure{Conflict, ReasonReplaced, ErrReplaced.Error()}, true
	case errors.As(err, &scope):
		return Failure{Terminal, ReasonWrongScope, scope.Error()}, true
	case errors.As(err, &name):
		return Failure{Terminal, ReasonInvalid, name.Error()}, true
	case errors.As(err, &many):
		return Failure{Terminal, ReasonTooLarge, many.Error()}, true
	case errors.As(err, &unclear):
		return Failure{Transient, ReasonUnreachable, unclear.Error()}, true
	case meta.IsNoMatchError(err):
		return Failure{Terminal, ReasonKindNotServed, kindNotServed(err)}, true
	}
	return Failure{}, false
}

func kindNotServed(err error) string {
	var kind *meta.NoKindMatchError
	if errors.As(err, &kind) {
		return fmt.Sprintf("the member does not serve kind %s in %s/%s: install its CustomResourceDefinition or remove the object",
			kind.GroupKind.Kind, kind.GroupKind.Group, strings.Join(kind.SearchedVersions, ", "))
	}
	return "the member does not serve the kind: install its CustomResourceDefinition or remove the object"
}

// classifyStatus knows what servers say. The order matters: admission and quota answer
// with the codes of other causes.
func classifyStatus(s metav1.Status, err error) Failure {
	switch {
	case webhookCall.MatchString(s.Message):
		name := webhookCall.FindStringSubmatch(s.Message)[1]
		return Failure{Transient, ReasonWebhookUnavailable, fmt.Sprintf("the member cannot call its admission webhook %q", name)}
	case admissionDenied.MatchString(s.Message):
		return Failure{Terminal, ReasonAdmissionDenied, s.Message}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return Failure{Transient, ReasonNamespaceTerminating, "the namespace is being deleted"}
	case strings.Contains(s.Message, "exceeded quota"):
		return Failure{Transient, ReasonQuotaExceeded, s.Message}
	case s.Code == http.StatusRequestEntityTooLarge || strings.Contains(s.Message, "etcdserver: request is too large"):
		return Failure{Terminal, ReasonTooLarge, "the object is larger than the member's API server takes (about 1.5 MB): split it"}
	}
	switch s.Code {
	case http.StatusUnauthorized:
		return Failure{Transient, ReasonUnauthorized, "the member does not accept the credentials"}
	case http.StatusForbidden:
		return Failure{Terminal, ReasonForbidden, s.Message}
	case http.StatusNotFound:
		return classifyNotFound(s)
	case http.StatusConflict:
		if conflicts := fieldConflicts(s); len(conflicts) > 0 {
			return Failure{Terminal, ReasonFieldConflict, describeConflicts(conflicts)}
		}
		return Failure{Conflict, ReasonConflict, "the object was changed at the same time"}
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return classifyInvalid(s)
	case http.StatusTooManyRequests:
		return Failure{Transient, ReasonThrottled, "the member asks for fewer requests"}
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return Failure{Transient, ReasonTimeout, "the member did not answer in time"}
	}
	if s.Code >= http.StatusBadRequest && s.Code < http.StatusInternalServerError {
		return Failure{Terminal, ReasonInvalid, s.Message}
	}
	if typedPatch.MatchString(s.Message) {
		return classifyInvalid(s)
	}
	return Failure{Transient, ReasonServerError, fmt.Sprintf("the member's API server failed with code %d", s.Code)}
}

func classifyNotFound(s metav1.Status) Failure {
	switch {
	case s.Details == nil || s.Details.Name == "":
		return Failure{Terminal, ReasonKindNotServed, kindNotServed(nil)}
	case s.Details.Kind == "namespaces":
		return Failure{Transient, ReasonNamespaceMissing, fmt.Sprintf("the namespace %q does not exist", s.Details.Name)}
	}
	return Failure{Conflict, ReasonNotFound, "the object does not exist"}
}

func classifyInvalid(s metav1.Status) Failure {
	if immutable.MatchString(s.Message) {
		return Failure{Terminal, ReasonImmutable, s.Message}
	}
	return Failure{Terminal, ReasonInvalid, s.Message}
}

var (
	webhookCall     = regexp.MustCompile(`failed calling webhook "([^"]*)"`)
	admissionDenied = regexp.MustCompile(`^admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request`)
	immutable       = regexp.MustCompile(`field is immutable|updates to statefulset spec for fields other than|may not change once set|Pod updates may not|field can not be decremented|is immutable after creation|spec is immutable`)
	typedPatch      = regexp.MustCompile(`failed to create typed patch object|failed to convert new object|unable to convert unstructured object`)
)
