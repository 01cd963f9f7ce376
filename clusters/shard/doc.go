// Package shard says which members this replica may write to, and until when.
//
// For now there is one shard: the leader of an ordinary controller-runtime leader election
// owns every member. Leadership wraps the election's lock and turns each renewal into a
// statement about the local clock: "ours until then". The guard in a member's transport
// asks for it before every write.
//
// The election's own answer would not do. It is a variable that is set when a goroutine
// gets to run; a replica that was stopped for a minute and resumed would still call itself
// leader, and write, until that goroutine noticed. The time here was fixed when the renewal
// began, and passes while we are stopped.
//
// Only intervals of the local monotonic clock are compared: with the moment a renewal
// began here, never with a timestamp that another process wrote.
package shard
