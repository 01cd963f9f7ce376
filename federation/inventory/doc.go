// Package inventory says how a binding's status stores what the binding lists.
//
// Up to MaxListed entries stand in status.inventory, where people read them with kubectl.
// More stand in status.inventoryData, all of them and nowhere else: some fifty bytes each,
// so that three thousand objects are far from what one object on the hub may weigh.
//
// The data is one byte that names the format, 1, and a gzip stream. Unpacked, that is the
// number of entries and then, column by column, what all entries have there:
//
//	id        how many bytes it shares with the id before it, and the rest as text
//	version   text
//	uid       a UUID in 16 bytes, or text
//	applied   a digest in 12 bytes, or text
//	owned     a digest in 12 bytes, or text
//	yielded   how many fields each entry has; then the paths, then the managers, of all
//
// A column has its numbers first (lengths, as varints), then its texts, then its raw bytes:
// like stands by like, which is what compresses well. UIDs and digests are random and do not
// compress at all; that they are raw is most of what is won.
//
// It does not say what an inventory means or when an entry leaves it; reconcilers do.
//
// Trade-offs: the whole is written anew when one entry changes. The same entries give the
// same bytes from one build of the program; another Go release may compress differently,
// and then each inventory is written once more.
package inventory
