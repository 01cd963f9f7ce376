// Command controlplane is a Kubernetes control plane in one program, built from
// the Go modules of its parts: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler, kwok and kubectl.
//
// It runs the part that it is called by, or that its first argument names:
//
//	ln -s controlplane etcd && ./etcd --data-dir=...
//	controlplane kube-apiserver --etcd-servers=...
//
// so that a directory of links to it serves wherever KUBEBUILDER_ASSETS is
// expected. One more name, cluster, runs several parts in one process, each with
// the command line that it would take by itself:
//
//	controlplane cluster kube-apiserver --etcd-servers=... -- kube-controller-manager --kubeconfig=... -- kwok --kubeconfig=...
//
// A cluster in one process starts faster and weighs less than its parts in
// processes of their own, and can be killed, stopped and continued as a whole.
// Without a kube-apiserver part it runs controllers against an API server that
// another process serves. Either way controllers start once that server is ready,
// and the process ends as soon as one part ends: half a cluster is none.
//
// The stages that make fake nodes and pods live are those that kwok ships;
// kwok loads them when it is given no --config of its own.
//
// This is a module of its own, so that the module it serves does not depend on
// k8s.io/kubernetes. It is for tests and demonstrations, not for production:
// it knows nothing about upgrades, backups or high availability.
//
// k8s.io/component-base/version.gitVersion has to be set when this is linked;
// kube-apiserver and kubectl cannot read the version otherwise.
package main
