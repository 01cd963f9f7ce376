// Package view sums up: bindings to the status of a layer, layers to the view of the whole
// federation, and both to the table that people read in a terminal.
//
// Everything rests on one small function that says where one layer stands on one member
// (standing). It believes a binding only as far as it speaks of the wanted revision and the
// layer's newest generation, and of a member that can be seen; a member without a word
// counts as Progressing, never as converged.
//
// It is not what decides anything, and results do not depend on the order of its arguments.
// All results are bounded: the worst few and counts, whatever the number of members.
package view
