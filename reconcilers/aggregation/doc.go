// Package aggregation keeps the view: the status of layers from their bindings, and the
// Federation from all layers. It runs on the leader.
//
// It computes nothing itself (federation/view). What it adds is restraint: a change of a
// binding is looked at a moment later, together with those that follow it, and a status is
// written only if it says something new.
package aggregation
