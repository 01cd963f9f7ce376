package member

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

var (
	// ErrReplaced means that an object is not the one that was meant: another was made under
	// its name. Nothing was deleted.
	ErrReplaced = errors.New("another object was made under the same name")
	// ErrUnreachable means that nothing was sent, since the probe has found the member away.
	// Config.Notify tells when it is back.
	ErrUnreachable = errors.New("the member is unreachable")
)

// Class says what an error means for whoever got it.
type Class string

// The classes.
const (
	// Transient errors pass by themselves: try again, with back-off.
	Transient Class = "Transient"
	// Terminal errors stay until someone changes something: wait for that change.
	Terminal Class = "Terminal"
	// Conflict errors say that the member changed under us: look again, and try again.
	Conflict Class = "Conflict"
	// Held errors say that we may not write now: ErrNotOwner or ErrPaused. Nothing is wrong
	// with the object.
	Held Class = "Held"
)

// The reasons of a Failure.
const (
	ReasonNotOwner             = "NotOwner"
	ReasonPaused               = "Paused"
	ReasonReplaced             = "Replaced"
	ReasonUnreachable          = "Unreachable"
	ReasonTimeout              = "Timeout"
	ReasonUnauthorized         = "Unauthorized"
	ReasonForbidden            = "Forbidden"
	ReasonQuotaExceeded        = "QuotaExceeded"
	ReasonThrottled            = "Throttled"
	ReasonServerError          = "ServerError"
	ReasonKindNotServed        = "KindNotServed"
	ReasonNamespaceMissing     = "NamespaceMissing"
	ReasonNamespaceTerminating = "NamespaceTerminating"
	ReasonInvalid              = "Invalid"
	ReasonImmutable            = "Immutable"
	ReasonTooLarge             = "TooLarge"
	ReasonAdmissionDenied      = "AdmissionDenied"
	ReasonWebhookUnavailable   = "WebhookUnavailable"
	ReasonConflict             = "Conflict"
	ReasonFieldConflict        = "FieldConflict"
	ReasonNotFound             = "NotFound"
	ReasonWrongScope           = "WrongScope"
)

// Failure is what an error says to people and to programs.
type Failure struct {
	Class Class
	// Reason is one of the Reason constants.
	Reason string
	// Message is for a condition: it is the same for every pass that fails for the same
	// cause, names what to change where something must change, and holds no Secret's value.
	Message string
}

// Error is the failure of one operation on one object.
type Error struct {
	// Op is "apply", "delete", "get", "list" or "discover".
	Op string
	// ID of the object.
	ID object.ID
	Failure
	cause error
}

// Error implements error. It says what Message says, and for which object.
func (e *Error) Error() string { return fmt.Sprintf("%s %s: %s", e.Op, e.ID, e.Message) }

// Unwrap makes errors.Is and errors.As see the cause: the server's status, ErrNotOwner,
// ErrPaused, ErrReplaced or ErrUnreachable.
func (e *Error) Unwrap() error { return e.cause }

// refusal is why nothing was sent: ErrPaused or ErrUnreachable, with the particulars.
type refusal struct {
	kind        error
	particulars string
}

func (e *refusal) Error() string { return e.kind.Error() + " " + e.particulars }
func (e *refusal) Unwrap() error { return e.kind }

// scopeError is an object whose namespace does not suit its kind.
type scopeError struct{ id object.ID }

func (e *scopeError) Error() string {
	return fmt.Sprintf("%s is cluster-scoped: remove metadata.namespace %q", e.id.Kind, e.id.Namespace)
}

// nameError is an object whose name cannot stand in a URL.
type nameError struct{ field, problem string }

func (e *nameError) Error() string { return fmt.Sprintf("metadata.%s %s", e.field, e.problem) }

// failed is the failure of an operation. Whatever is known of it is known from here on:
// the cause of a failure about a Secret does not leave this function.
func failed(op string, id object.ID, err error) error {
	failure := Classify(err)
	if id.GroupKind() == secretKind {
		failure, err = redacted(failure, err)
	}
	return &Error{Op: op, ID: id, Failure: failure, cause: err}
}

var secretKind = schema.GroupKind{Kind: "Secret"}
