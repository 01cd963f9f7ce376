// Package health says whether one live object has reached what its spec asks for, by the
// rules of kstatus, a few of our own where kstatus has none, and those that a layer gives for
// kinds that follow no convention.
//
// It is not the verdict on a layer: whether the object is the one that was wanted, and was
// seen late enough, is for package convergence.
//
// Trade-off: kstatus compares the age of a Pod that cannot be scheduled with the clock. It
// is the one answer here that can change without the object.
package health
