// Package assertion judges StateAssertions by what was observed on their members, and carries
// out their fallbacks. It runs on the leader.
//
// It does not observe: reconcilers/observation does, where members are owned. What an answer
// is, and when a fallback is due, is decided in federation/assertion.
//
// What is done can be seen in the layers themselves: the hold in status.heldBy, the rollback in
// status.rolledBack. So a leader that ends between acting and saying so leaves nothing undone
// and has nothing done twice, and no finalizer is needed to let go of a layer: whoever holds a
// layer is looked at when the layer changes, and when a leader begins.
package assertion
