package expression

import "k8s.io/apimachinery/pkg/util/version"

// Cluster is what expressions see of a member.
type Cluster struct {
	Name      string            `cel:"name"`
	Namespace string            `cel:"namespace"`
	Labels    map[string]string `cel:"labels"`
	Version   Version           `cel:"version"`
}

// Version is a member's Kubernetes version. Major and Minor are 0 where it is not known.
type Version struct {
	GitVersion string `cel:"gitVersion"`
	Major      int64  `cel:"major"`
	Minor      int64  `cel:"minor"`
}

// ParseVersion reads a version such as v1.36.3.
func ParseVersion(gitVersion string) Version {
	parsed := Version{GitVersion: gitVersion}
	if v, err := version.ParseGeneric(gitVersion); err == nil {
		parsed.Major, parsed.Minor = int64(v.Major()), int64(v.Minor())
	}
	return parsed
}
