// Package assertion asks whether what people assert is so. There are two kinds.
//
// A layer's assertions (Set) are about one member: CEL over the layer's live objects there, and
// over objects that it observes beside them. Package convergence makes a verdict of the answers.
// One whose objects could not be read is Unknown as a whole, also where the rest of its
// expression would decide it. People read one rule more easily than CEL's.
//
// A StateAssertion (State) is about several members: CEL over the values that were observed on
// each of them. Here one member that is away must not hide what two others show. So the
// expression is asked with what is not known as CEL's unknown. It is
//
//   - False where it is false whatever the unknown values are;
//   - otherwise Unknown, if any selected member is not known, also where the expression would be
//     true without;
//   - otherwise what the expression says.
//
// A member is known as a whole or not at all. It is not, neither its values nor their age, if it
// was not observed for this generation of the assertion or longer ago than maxAge, if observing
// one of the values failed, and if it cannot be reached or has no owner. Its labels, and whether
// it is observed, are always known: so an expression that asks for "observed" may be False of a
// member that is away, as its author wanted.
//
// Values and answers are all that the package knows. It does not read the objects, and of what
// follows from an answer it says when a fallback is due, and does nothing.
package assertion
