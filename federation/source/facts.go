package source

import (
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
)

// Facts is what expressions may know of any member.
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

// Cluster is the facts as expressions see them.
func (f Facts) Cluster() expression.Cluster {
	c := expression.Cluster{Name: f.Name, Namespace: f.Namespace, Labels: f.Labels, Version: expression.ParseVersion(f.Version)}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	return c
}
