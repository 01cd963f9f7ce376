package source

import (
	"github.com/syncline-dev/syncline/federation/object"
)

// Facts is what templates may know of a member.
type Facts struct {
	// Name and Namespace of the MemberCluster.
	Name, Namespace string
	// Labels of the MemberCluster.
	Labels map[string]string
	// Version is the member's Kubernetes version, such as v1.36.3; empty if not known.
	Version string
}

// Digest is equal for equal facts.
func (f Facts) Digest() string {
	digest, err := object.Digest(f)
	if err != nil {
		panic(err) // Strings always have a JSON form.
	}
	return digest
}
