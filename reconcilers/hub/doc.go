// Package hub is what the reconcilers share of the hub: how its cache is indexed, how one
// finds the layers and bindings of a member, and how a status is written.
//
// It decides nothing. A read comes from the manager's cache unless its comment says
// otherwise; a write is one status patch that fails where the cache was behind.
package hub
