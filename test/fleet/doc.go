// Package fleet starts a hub and any number of member clusters on this machine,
// for tests and the demo: real API servers, one etcd for all, and on members the
// controller manager, the scheduler and KWOK nodes, so that Deployments really
// roll out. The programs come from package programs.
//
//	f, err := fleet.Start(ctx, fleet.Config{Members: []fleet.Member{{Name: "a"}, {Name: "b"}}})
//	...
//	defer f.Stop()
//	err = f.Register(ctx, f.Member("a"))
//
// A test package shares one fleet; starting one takes seconds and each cluster
// about 200 MB:
//
//	var shared *fleet.Fleet
//
//	func TestMain(m *testing.M) {
//		fleet.Main(m, fleet.Config{Members: fleet.Members(2)}, &shared)
//	}
//
// Each cluster is a process (several, if KUBEBUILDER_ASSETS names ready programs)
// that can be killed, stopped, continued and started again by itself, and each
// has its own CA, certificates and audit log. Nothing outlives the fleet: Stop
// ends every process and waits for it, and on Linux the kernel ends them when
// the test's process dies, even by SIGKILL.
//
// StartProxy puts a proxy in front of an API server that loses, delays or cuts what
// passes. A member with OwnEtcd can be restored from a backup.
//
// What it is not: there are no kubelets (pods are played, not run: no logs, no
// exec), no networks but loopback, no webhooks, no add-ons. etcd does not sync to
// disk. A fleet is as safe as its directory: certificates and keys lie in there.
//
// The hub holds Cluster API's CRDs but none of its controllers. Register does
// what these would: the Cluster, its CA Secret and its kubeconfig Secret, the
// last two made by Cluster API's own code.
package fleet
