// Package ownership says on MemberClusters, and in a metric, which of them no replica owns for
// longer than a takeover takes. It runs on the leader: the one that could say so is not
// there.
//
// It owns nothing and moves nothing; that is clusters/shard. Who owns a member is said by the
// owner itself (reconcilers/member).
package ownership
