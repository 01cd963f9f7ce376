package registration

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// The reasons of a RefusedError. The first four say that the Secret is no member's.
const (
	ReasonNotKubeconfig = "NotKubeconfigSecret"
	ReasonLabelMissing  = "LabelMissing"
	ReasonLabelMismatch = "LabelMismatch"
	ReasonWrongType     = "WrongSecretType"

	ReasonNoValue         = "NoValue"
	ReasonEmptyValue      = "EmptyValue"
	ReasonNotYAML         = "NotYAML"
	ReasonNotConfig       = "NotAKubeconfig"
	ReasonNoContext       = "NoCurrentContext"
	ReasonContextNotFound = "ContextNotFound"
	ReasonClusterNotFound = "ClusterNotFound"
	ReasonUserNotFound    = "UserNotFound"
	ReasonNoServer        = "NoServer"
	ReasonInvalidServer   = "InvalidServer"
	ReasonNotHTTPS        = "ServerNotHTTPS"
	ReasonExec            = "ExecPlugin"
	ReasonAuthProvider    = "AuthProvider"
	ReasonFile            = "FileReference"
	ReasonProxy           = "ProxyURL"
	ReasonInvalidProxy    = "InvalidProxyURL"
	ReasonInvalidCA       = "InvalidCA"
	ReasonInvalidKeyPair  = "InvalidClientCertificate"
	ReasonNoCredentials   = "NoCredentials"
	ReasonConflictingUser = "ConflictingCredentials"
	ReasonConflictingTLS  = "ConflictingTLS"
)

const dataField = "data." + SecretKey

// RefusedError says why a Secret does not become a member. It holds no value of the
// Secret's data: the names of contexts, clusters and users are not secret and help to
// find the place.
type RefusedError struct {
	// Secret that was refused.
	Secret types.NamespacedName
	// Reason is one of the Reason constants.
	Reason string
	// Field of the Secret that is to blame, down into the kubeconfig.
	Field string
	// Message says what is wrong with the field and the way out.
	Message string
}

// Error names the Secret, the field and the way out. It is the same for every pass.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("Secret %s: %s: %s", e.Secret, e.Field, e.Message)
}

// NotMember says that the Secret is no member's kubeconfig at all, rather than a bad one.
func (e *RefusedError) NotMember() bool {
	switch e.Reason {
	case ReasonNotKubeconfig, ReasonLabelMissing, ReasonLabelMismatch, ReasonWrongType:
		return true
	}
	return false
}

func refuse(reason, field, format string, args ...any) *RefusedError {
	return &RefusedError{Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
}

// within places a field inside the kubeconfig.
func within(format string, args ...any) string {
	return dataField + ": " + fmt.Sprintf(format, args...)
}
