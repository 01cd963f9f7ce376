package registration

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// SecretType is the type of Cluster API's Secrets.
	SecretType = clusterv1.ClusterSecretType
	// LabelCluster is the label that names the Secret's cluster.
	LabelCluster = clusterv1.ClusterNameLabel
	// SecretSuffix is what follows the cluster's name in the name of its kubeconfig Secret.
	SecretSuffix = "-kubeconfig"
	// SecretKey is the key under which the kubeconfig stands.
	SecretKey = "value"
)

// Options are what an administrator of the hub allows.
type Options struct {
	// AllowProxy accepts a proxy-url. By default it is refused: whoever may write the
	// Secret could otherwise route the hub's traffic.
	AllowProxy bool
}

// Registration is a member as its kubeconfig Secret describes it.
type Registration struct {
	// Member is the namespace of the Secret and the name of the cluster.
	Member types.NamespacedName
	// Config holds the endpoint and inline credentials, and nothing that reads a file, runs
	// a program or limits rates. It is the caller's own.
	Config *rest.Config
	// Life is that of the client certificate or the token, whichever ends first; nil where
	// neither says when it ends.
	Life *Life
	// Digest is equal for equal kubeconfigs, byte by byte. It does not reveal the content.
	Digest string
}

// MemberOf is the member that a Secret is the kubeconfig of, by its name and label alone;
// false if the Secret is no member's. FromSecret says why not.
func MemberOf(secret metav1.Object) (types.NamespacedName, bool) {
	member, refused := memberOf(secret)
	return member, refused == nil
}

func memberOf(secret metav1.Object) (types.NamespacedName, *RefusedError) {
	name, found := strings.CutSuffix(secret.GetName(), SecretSuffix)
	if !found || name == "" {
		return types.NamespacedName{}, refuse(ReasonNotKubeconfig, "metadata.name",
			"the name is not <cluster>%s; rename the Secret if it is a member's kubeconfig", SecretSuffix)
	}
	switch label := secret.GetLabels()[LabelCluster]; label {
	case name:
		return types.NamespacedName{Namespace: secret.GetNamespace(), Name: name}, nil
	case "":
		return types.NamespacedName{}, refuse(ReasonLabelMissing, "metadata.labels",
			"the label %s is missing; set it to %s", LabelCluster, name)
	default:
		return types.NamespacedName{}, refuse(ReasonLabelMismatch, "metadata.labels",
			"the label %s is %s, but by its name the Secret is that of %s; make them agree", LabelCluster, label, name)
	}
}

// FromSecret reads a member's kubeconfig. Its error is a *RefusedError.
func FromSecret(secret *corev1.Secret, opts Options) (*Registration, error) {
	registration, refused := fromSecret(secret, opts)
	if refused != nil {
		refused.Secret = types.NamespacedName{Namespace: secret.Namespace, Name: secret.Name}
		return nil, refused
	}
	return registration, nil
}

func fromSecret(secret *corev1.Secret, opts Options) (*Registration, *RefusedError) {
	member, refused := memberOf(secret)
	if refused != nil {
		return nil, refused
	}
	if secret.Type != SecretType {
		return nil, refuse(ReasonWrongType, "type", "the type is not %s; a Secret's type cannot be changed: make it anew", SecretType)
	}
	value, found := secret.Data[SecretKey]
	switch {
	case !found:
		return nil, refuse(ReasonNoValue, dataField, "there is no key %q; put the kubeconfig under it", SecretKey)
	case len(value) == 0:
		return nil, refuse(ReasonEmptyValue, dataField, "the kubeconfig is empty; put one there")
	}
	config, life, refused := parse(value, opts)
	if refused != nil {
		return nil, refused
	}
	sum := sha256.Sum256(value)
	return &Registration{
		Member: member,
		Config: config,
		Life:   life,
		Digest: base64.RawURLEncoding.EncodeToString(sum[:]),
	}, nil
}
