// Package expression is what all CEL that people write into layers has in common: the
// function library, compiling with errors that name the place, limits of work, and answers
// that tell true, false and unknown apart.
//
// It is not what expressions are about: who asks declares the variables and gives their
// values.
//
// Trade-offs: a field that is absent is an ordinary answer (False) rather than an error,
// since most of what people ask about live objects is absent until a controller has written
// it. Errors of evaluation are reduced to a few texts of our own: CEL's hold values, which
// may be secret, and differ from pass to pass.
package expression
