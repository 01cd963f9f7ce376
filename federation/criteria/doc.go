// Package criteria holds what a layer asks of members in CEL, ready to be asked: whether it
// applies there, when its objects are healthy, and what must be so before it has converged.
//
// It asks nothing itself: the packages rollout, health and assertion do.
package criteria
