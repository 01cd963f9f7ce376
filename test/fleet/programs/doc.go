// Package programs finds the programs that a control plane is made of, and
// builds from their Go modules those that are not there.
//
// A program found in the directory that KUBEBUILDER_ASSETS names is used as it
// is. If any is missing, the module test/controlplane is built, once, into the
// user's cache directory under a digest of everything that decides the result:
// its go.mod, go.sum and source, the Go version, the flags. A cold build takes
// minutes and a few GB of Go's build cache; later ones take seconds; a cached
// program takes nothing. Parallel test packages wait for one another through a
// lock file.
//
// What is not found and not built here: container images, kubelet, CoreDNS.
// Nothing is ever removed from the cache; delete the directory to get the space
// (about 140 MB per version) back.
//
// The lock is flock(2), so this package is for Unix.
package programs
