// Package member is one connected member cluster, and the provider of all of them.
//
// A Member is all that the rest of Syncline needs of a member, and no more: it applies and
// deletes single objects, remembers a digest of each object that is ours, says whether the
// member can be seen, and serves the schema of custom kinds. It decides nothing: what to
// apply, what to prune and what a state means is asked of federation by the reconcilers.
//
// Everything to and from the member passes one transport, from the outside in:
//
//	clients -> Guard -> throttle -> sightings -> credential.Transport -> member
//
// The Guard lets a write leave only while it is admitted (we own the member, nothing is
// paused), and ends it when the admission ends. Clients made by hand from GetConfig pass
// it too; there is no other way in. The throttle heeds a member that asks for patience, and
// stands before everything but the probe. Sightings count every answer as a proof of life.
//
// Lifetimes: New does no I/O. Start runs the probe and the watches, and returns when all
// goroutines have ended. The Provider starts members under contexts of its own, so that
// none hangs off a reconcile, and identifies each by a token, so that a predecessor never
// removes its replacement.
//
// Trade-offs:
//
//   - There is no object cache. Of an object we keep an Observation: identity, version,
//     health and the digest of the fields we own. GetCache exists, since cluster.Cluster
//     wants it, and costs nothing until it is asked; nothing of ours asks. GetClient reads
//     live.
//   - Kinds are looked up one group version at a time, and the last good answer is kept:
//     a dead aggregated API, or a 503 on discovery, touches nobody else.
//   - Reflectors see no weather. A member that is away, a kind that is not served, a list
//     that is forbidden: the list-watch underneath waits and tries again, so that a watch
//     resumes where it was instead of listing everything.
//   - What was seen of a kind counts only while its watch works, and after an interruption
//     only when it has caught up. A server sends no mark for that; a second of silence is
//     taken for one. A server that went back in time (a restore from a backup) would say
//     nothing at all, so each watch that is resumed first asks whether the version that it
//     resumes from is known.
//   - The Guard cannot take back what a server has already received. It cuts the request
//     at the end of ownership and stops sending its body; the time between the end of
//     ownership and the next owner's start is for the rest (clusters/shard).
package member
