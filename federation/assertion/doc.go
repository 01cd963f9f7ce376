// Package assertion asks on one member what a layer asserts there: CEL over the layer's live
// objects, and over objects that it observes beside them.
//
// It is not what reads the objects, nor what an answer leads to: the caller gives what was
// seen, and package convergence makes a verdict of the answers.
//
// Trade-off: an assertion whose objects could not be read is Unknown as a whole, also where
// the rest of its expression would decide it. People read one rule more easily than CEL's.
package assertion
