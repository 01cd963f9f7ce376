// Package live holds the tests of clusters/member, clusters/credential and
// clusters/registration against real API servers. It has no code of its own: the package
// under test looks for leaked goroutines, which a fleet beside it would hide.
package live
