package fleet

import (
	"errors"
	"fmt"
	"io"
	"net/netip"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// HubName is the name of the hub's cluster.
const HubName = "hub"

// Config says what Start starts.
type Config struct {
	// Members to start beside the hub, in this order. None by default.
	Members []Member
	// Dir holds the fleet's state: NAME.kubeconfig and NAME.log for each cluster,
	// a directory NAME with its keys and audit log, and etcd's data. What an
	// earlier fleet left there is overwritten; two fleets must not share it at one
	// time. By default it is a temporary directory that Stop removes.
	Dir string
	// Progress gets lines for a person to read while programs are built and
	// clusters start. By default nothing is written.
	Progress io.Writer
	// WithoutClusterAPI leaves Cluster API's CRDs out of the hub. Register then
	// makes the Secrets only.
	WithoutClusterAPI bool
	// AuditBodies puts into the audit logs of members what UserClusterAPI writes: a write
	// without a body there is one that never arrived as a whole.
	AuditBodies bool
}

// Member says what one member cluster is like.
type Member struct {
	// Name of the cluster: a DNS label, unique in the fleet, not "hub" or "etcd".
	Name string
	// Labels that Register puts on the Cluster on the hub. None by default.
	Labels map[string]string
	// Namespace on the hub in which Register registers the member. "fleet" by
	// default.
	Namespace string
	// Nodes is the number of fake nodes. 1 by default.
	Nodes int
	// ServiceCIDR is the range of the Services' addresses. "10.0.0.0/16" by
	// default.
	ServiceCIDR string
	// OwnEtcd gives the cluster an etcd of its own, which Backup needs. By default it
	// shares one with the rest of the fleet.
	OwnEtcd bool
}

const (
	defaultNamespace   = "fleet"
	defaultNodes       = 1
	defaultServiceCIDR = "10.0.0.0/16"
)

// Members returns n members with default settings, called member-1 to member-n.
func Members(n int) []Member {
	members := make([]Member, n)
	for i := range members {
		members[i].Name = fmt.Sprintf("member-%d", i+1)
	}
	return members
}

// validated returns the configuration with defaults filled in, or what is wrong
// with it. It leaves its argument alone.
func validated(cfg Config) (Config, error) {
	if cfg.Progress == nil {
		cfg.Progress = io.Discard
	}
	members := make([]Member, 0, len(cfg.Members))
	var errs []error
	names := map[string]bool{}
	for _, m := range cfg.Members {
		m, err := validatedMember(m)
		if err == nil && names[m.Name] {
			err = fmt.Errorf("member %q: the name is taken", m.Name)
		}
		names[m.Name] = true
		errs = append(errs, err)
		members = append(members, m)
	}
	cfg.Members = members
	return cfg, errors.Join(errs...)
}

func validatedMember(m Member) (Member, error) {
	if m.Namespace == "" {
		m.Namespace = defaultNamespace
	}
	if m.Nodes == 0 {
		m.Nodes = defaultNodes
	}
	if m.ServiceCIDR == "" {
		m.ServiceCIDR = defaultServiceCIDR
	}
	var errs []error
	for _, problem := range content.IsDNS1123Label(m.Name) {
		errs = append(errs, errors.New(problem))
	}
	if m.Name == HubName || m.Name == etcdName {
		errs = append(errs, errors.New("the name is reserved"))
	}
	if m.Nodes < 0 {
		errs = append(errs, fmt.Errorf("nodes: %d is negative", m.Nodes))
	}
	if _, err := netip.ParsePrefix(m.ServiceCIDR); err != nil {
		errs = append(errs, fmt.Errorf("service CIDR: %w", err))
	}
	if len(errs) > 0 {
		return m, fmt.Errorf("member %q: %w", m.Name, errors.Join(errs...))
	}
	return m, nil
}
