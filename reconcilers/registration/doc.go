// Package registration makes a MemberCluster of every kubeconfig Secret, follows Cluster
// API's Cluster where there is one, and says on the MemberCluster what keeps it from being
// used. It runs on the leader.
//
// It reaches no member: whether a member answers is said by the replica that owns it
// (reconcilers/member). A MemberCluster goes when its Secret is gone, unless Cluster API
// still has the Cluster: then the Secret is on its way back.
package registration
