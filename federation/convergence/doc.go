// Package convergence judges one layer on one member: has what is wanted been written, seen
// and reached?
//
// Judge is a function of one observation. An object counts only if what we saw is at least
// as new as what we wrote, its controller has seen its generation, and what was written is
// of the wanted revision. What cannot be seen is Unknown, never green.
//
// It is not where anything is observed or decided upon; the caller brings what it knows and
// the time. Deadlines and fallbacks will stand between the verdict and the status: a
// function of the old status, the verdict and the time, as Record is today.
//
// Conditions, the one place that knows how a state becomes Converged, Reconciling and
// Stalled, serves every kind that has these conditions.
package convergence
