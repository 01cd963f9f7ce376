// Package install puts Syncline on the hub of a fleet as its documentation says: the CRDs
// and the RBAC of deploy/, and manager replicas that have no other rights than those. The
// demo, the end-to-end tests and the benchmarks all run what users run.
package install
