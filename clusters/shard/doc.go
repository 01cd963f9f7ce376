// Package shard says which members this replica may write to, and until when.
//
// Members are spread over a fixed number of shards (Of), and shards over the live replicas
// (Assign). Each replica renews one Lease of its own; each shard has a Lease, whose holder
// owns the shard's members. One more Lease, syncline-shards, records the number of shards.
// Replicas watch these Leases, compute the same assignment, and act on their own part of it.
//
// # How it is built
//
// machine decides. It is pure: events and the time go in, calls and orders come out. loop
// carries that out; Replica is what others see of it. A tenure is one stay of a shard here,
// and Admission asks it before every write. Coordinator engages members with
// multicluster-runtime's controllers for the length of a tenure.
//
// # Why there is one writer
//
// A tenure ends RenewDeadline after its last renewal began here; others take a Lease when they
// have seen it unchanged for LeaseDuration. Both are intervals of one machine's monotonic
// clock: no time that another machine wrote is ever compared. What lies between them is for
// writes that are on their way. Every write of a Lease names the version that it replaces.
//
// A Lease is given back when no write under it can be under way any more, and says so with an
// annotation: one that merely has no holder, or has just been made, may have been edited or
// deleted by a person while somebody owned it, and is respected for LeaseDuration.
//
// Assignment depends on who holds what now, not on the live replicas alone, as plain
// rendezvous hashing would. Scaling thereby moves what it must and nothing else; with exactly
// balanced loads no function of the live replicas alone can do that.
//
// The epoch of a tenure is its Lease's leaseTransitions. It exceeds every epoch that any Lease
// knows of: those of replicas say which was the highest that they saw, and who leaves writes it
// into the record. So epochs grow even where people delete Leases or set them back, unless
// they do that to all that knew while no replica runs.
//
// # How it is used
//
//	replica, err := shard.NewReplica(shard.ReplicaConfig{
//		Name: podName, Weight: 1, Shards: 64, Timings: timings,
//		Reader: leases, Writer: leases, // clientset.CoordinationV1().Leases(namespace)
//	})
//	coordinator := shard.NewCoordinator(replica)
//	mgr, err := mcmanager.New(config, provider, options, mcmanager.WithCoordinator(coordinator))
//
// The manager then runs the replica, leader or not. Controllers of members have to run on
// every replica too: their NeedLeaderElection must be false. The clientset should be one of its
// own, without a rate limit: Leases must not queue behind other requests. A process that is
// asked to end calls Leave before it stops what writes to members.
//
// The guard in a member's transport asks Replica.Admission(member).Begin. Whoever shows
// owners reads Replica.Holding, on any replica, and hears of changes by OnMove; whoever
// serves members asks Owns, and hears of changes by OnChange. Expects and OnExpect tell
// earlier which members are to be ours: their owner keeps them for a moment, in which they
// can be connected to and read, but not written to.
package shard
