// Package stack says which layers a member has, each in which revision: the one answer for
// the member's owner, who makes it so, and for synclinectl, which explains it.
//
// It reads what it is given and writes nothing. What the layers mean together is the fold's
// (federation/layer).
package stack
