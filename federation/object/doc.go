// Package object says what one object of desired state is to Syncline: its identity, its
// place in the order of application, its health as a word, and the digest of the fields
// we own.
//
// It is the one package of federation that clusters may import, and it knows nothing of
// layers, members or clients.
package object
