// Command truth holds what Syncline says of members against what was so on them. Six members
// have a hundred objects each, which are changed more than a hundred times a second: layers are
// edited, a controller on each member answers late, and others change what is ours. What these
// fall short of the pace the controllers' signs of life make up, which tell the manager nothing
// and are what a watch is full of. Meanwhile what watches tell the manager comes late, and three
// of ten of its status writes are slow. The harness itself watches hub and members directly.
//
// A verdict is a LayerBinding that is published with condition Converged=True. It claims that
// the member has had all objects of the layer as the named revision has them, that their
// controller has seen them, and that it finds them well. Between that moment and the
// publication time passes, and the truth moves on: a verdict that comes late is no lie.
//
// So a verdict is false if at no moment between the write of what it claims and its publication
// the member was wholly in the state that it claims:
//
//   - The interval begins with the last of Syncline's writes to the layer's objects that gave one
//     of them the content of that revision, be it an edit that arrives or a drift that is mended,
//     or that took one away: now and then an object leaves a layer and is back in it at once.
//     What was so before a drift does not excuse a verdict that follows too soon on its mending.
//     Writes that came when the verdict had left the manager do not count.
//   - It ends with the resourceVersion of the binding.
//   - Wholly means all objects of the layer at one moment: each there, with the content of the
//     revision and not with what others made of it, its status of its newest generation, and
//     Ready; and what the revision lacks is gone.
//
// Nothing is compared by clocks. All clusters of a fleet share one etcd, and a resourceVersion is
// its revision: those of hub and members are in one order.
//
// The manager cannot have seen two kinds at one moment, since each has a watch of its own. That
// must not make a verdict false. Others change widgets only, whose controller has to answer
// before they count again: all that counts of them came through one watch, in order. ConfigMaps
// change by our own writes only.
//
// That the judge finds lies is proved in the same run, by a second manager to which the checks
// mean nothing: its source is the one at hand, with a verdict that counts an object whether or
// not it was applied and seen, and a health that takes any status for one of the newest
// generation (mutant.go).
//
// What it is not: a test of speed, or of deadlines and fallbacks. A verdict that never comes is
// noticed only at the end, when all layers must converge.
package main
