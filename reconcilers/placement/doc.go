// Package placement turns what a user wrote into revisions: it reads a layer's manifests
// wherever they are, stores the content once, names it in the layer's status, and collects
// what no member needs any more. It runs on the leader.
//
// A changed layer costs two writes here, whatever the number of members: the revision and
// the layer's status. Members' owners see the status and serve their members themselves
// (reconcilers/member); a layer being deleted is held until they have undone its bindings.
package placement
