// Package member keeps members in the state that their layers want. It runs where the
// members are owned: one request is one member, and no two workers serve one member.
//
// A pass reads as its parts: a snapshot of the hub (reads only), the fold (pure), the plan
// (pure), execution (writes to the member only), the record (writes to the hub only). What
// a pass needs to know of the member comes from its watches (clusters/member); a pass that
// finds nothing to do does no I/O at all.
//
// It decides nothing of layers' meaning (federation/layer) or of verdicts
// (federation/convergence), and it holds no state that could not be lost: the ledger only
// spares repetition.
package member
