// Package e2e tests what users meet: the manager as it is installed, two replicas with the
// rights of deploy/rbac and no more, a hub and members that are real control planes.
//
// All tests share one fleet. A test has a namespace of its own on the hub, in which it
// registers members, and a namespace of that name on each member (arena); so tests run side
// by side. Those that pause the Federation, stop managers or measure times run before them,
// one after another. The name of a test of a case from the field begins with its number.
//
// With SYNCLINE_E2E_DIR set the fleet lives in that directory, and logs, audit logs and
// kubeconfigs stay behind for a look.
//
// What it is not: a test of the engine's rules, which federation tests in milliseconds, nor
// a measurement; see test/bench.
package e2e
