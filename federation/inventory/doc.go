// Package inventory says how a binding's status stores what the binding lists.
//
// Up to MaxListed entries stand in status.inventory, where people read them with kubectl.
// More stand in status.inventoryData, all of them and nowhere else: some fifty bytes each,
// so that three thousand objects are far from what one object on the hub may weigh.
//
// The data is one byte that names the format, 1, and a gzip stream of CBOR (RFC 8949): an
// array of columns, in the order of table. UIDs and digests are random and do not compress at
// all; that they are bytes, and not text, is most of what is won.
//
// It does not say what an inventory means or when an entry leaves it; reconcilers do.
//
// Trade-offs: the whole is written anew when one entry changes. The same entries give the
// same bytes from one build of the program; another Go release may compress differently,
// and then each inventory is written once more.
package inventory
