// Package revision keeps the content of layers on the hub and reads it back.
//
// A revision is immutable and named by its content: what a layer says, whoever needs it,
// is stored once. Its public part is a ControllerRevision; what came from Secrets is a
// Secret of the same name, and never anywhere else. A Layer's revisions stand beside it,
// a ClusterLayer's in the manager's own namespace.
//
// Which revision a member should have is not decided here (federation/rollout).
package revision
