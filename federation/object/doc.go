// Package object says what one object of desired state is to Syncline: its identity, its
// place in the order of application, its health as a word, the digest of the fields we own,
// in which fields a live object differs from what we send, and who else manages it.
//
// It is the one package of federation that clusters may import, and it knows nothing of
// layers, members or clients.
//
// Trade-off: differences are found without the schema of the kind. What a list is, and
// whether a value may be another spelling of ours, is told by the managed fields, which say
// it of just this object; an object without any is compared more loosely.
package object
