package fleet

import (
	"fmt"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

// Users as which the parts of a cluster act. They are system:masters all the
// same; the names tell them apart in the audit log.
const (
	userControllerManager = "system:kube-controller-manager"
	userScheduler         = "system:kube-scheduler"
	userKwok              = "system:kwok"
	// userAdmin is the user of RESTConfig and Kubeconfig. Cluster API's
	// kubeconfigs, which Register makes, have another: UserClusterAPI.
	userAdmin    = "fleet-admin"
	mastersGroup = "system:masters"
)

const (
	// podCIDR must not overlap any range of Services.
	podCIDR = "10.244.0.1/16"
	// hubServiceCIDR is the range of the hub's Services.
	hubServiceCIDR = "10.0.0.0/16"
	// auditMaxMegabytes keeps the audit log in one file: offsets stay valid.
	auditMaxMegabytes = 16384
)

func etcdFlags(data, client, peer string) []string {
	return []string{
		"--data-dir=" + data,
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--unsafe-no-fsync",
		"--log-level=warn",
		"--max-txn-ops=10000",
		"--quota-backend-bytes=4294967296",
		"--warning-unary-request-duration=10s",
	}
}

// flags returns the command lines of a cluster's parts, in the order in which
// they start, for the state that the cluster is started with.
func (c *Cluster) flags(s state) []component {
	components := []component{{programs.APIServer, c.apiServerFlags(s)}}
	components = append(components, component{programs.ControllerManager, []string{
		"--kubeconfig=" + c.file(programs.ControllerManager+".kubeconfig"),
		"--service-account-private-key-file=" + c.file("service-account.key"),
		"--root-ca-file=" + c.file("ca.crt"),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
	}})
	if c.name == HubName {
		return components
	}
	return append(components,
		component{programs.Scheduler, []string{
			"--kubeconfig=" + c.file(programs.Scheduler+".kubeconfig"),
			"--leader-elect=false",
			"--secure-port=0",
		}},
		component{programs.Kwok, []string{
			"--kubeconfig=" + c.file(programs.Kwok+".kubeconfig"),
			"--manage-all-nodes=true",
			"--cidr=" + podCIDR,
			"--node-lease-duration-seconds=40",
		}},
	)
}

func (c *Cluster) apiServerFlags(s state) []string {
	return []string{
		"--etcd-servers=" + c.etcdURL(s),
		"--etcd-prefix=" + s.etcdPrefix(c.name),
		"--bind-address=" + loopback,
		fmt.Sprintf("--secure-port=%d", s.port),
		"--advertise-address=" + loopback,
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.file("server.crt"),
		"--tls-private-key-file=" + c.file("server.key"),
		"--client-ca-file=" + c.file("ca.crt"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("service-account.pub"),
		"--service-account-signing-key-file=" + c.file("service-account.key"),
		"--service-cluster-ip-range=" + c.member.ServiceCIDR,
		"--allow-privileged=true",
		"--profiling=false",
		"--etcd-compaction-interval=0",
		"--etcd-count-metric-poll-period=0",
		"--etcd-db-metric-poll-interval=0",
		"--audit-policy-file=" + c.file("audit-policy.yaml"),
		"--audit-log-path=" + c.file("audit.log"),
		"--audit-log-mode=blocking",
		fmt.Sprintf("--audit-log-maxsize=%d", auditMaxMegabytes),
	}
}
