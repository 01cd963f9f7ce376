// Package rollout says which members a layer reaches, by its selector and its precondition,
// and which of its revisions each should have. Every replica computes the same answer from the same objects, so a changed layer is
// one write for the hub, however many members it has.
//
// It is not what moves a rollout on: today a layer has one revision for all members. Stages
// will come as a part of the layer's status that Wanted reads for the given member, and as
// a function that says when the next step is due.
package rollout
