package hub

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// SetCondition sets a condition of a MemberCluster, for the generation at hand.
func SetCondition(member *v1alpha1.MemberCluster, condition metav1.Condition) {
	condition.ObservedGeneration = member.Generation
	meta.SetStatusCondition(&member.Status.Conditions, condition)
}

// SummarizeMember sets Ready from the conditions that registration and the member's owner
// have written: the first that is not True, in the order in which a person would ask. A member
// that cannot be reached with credentials that have expired says so.
func SummarizeMember(member *v1alpha1.MemberCluster) {
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Reachable"}
	for _, asked := range []string{v1alpha1.ConditionRegistered, v1alpha1.ConditionReachable} {
		found := meta.FindStatusCondition(member.Status.Conditions, asked)
		if found == nil {
			ready.Status, ready.Reason = metav1.ConditionUnknown, "Connecting"
			ready.Message = "the member has not been seen yet"
			break
		}
		if found.Status != metav1.ConditionTrue {
			ready.Status, ready.Reason, ready.Message = found.Status, found.Reason, found.Message
			break
		}
	}
	barred := meta.FindStatusCondition(member.Status.Conditions, v1alpha1.ConditionBarred)
	ownerless := meta.FindStatusCondition(member.Status.Conditions, v1alpha1.ConditionOwnerless)
	expiring := meta.FindStatusCondition(member.Status.Conditions, v1alpha1.ConditionCredentialsExpiring)
	switch {
	case ownerless != nil:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionUnknown, ownerless.Reason, ownerless.Message
	case ready.Status == metav1.ConditionTrue && barred != nil:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, barred.Reason, barred.Message
	case ready.Status == metav1.ConditionFalse && ready.Reason == "Unreachable" && expiring != nil && expiring.Reason == ReasonExpired:
		ready.Reason, ready.Message = expiring.Reason, expiring.Message
	}
	SetCondition(member, ready)
}

// Reasons of the condition CredentialsExpiring.
const (
	ReasonExpiresSoon = "ExpiresSoon"
	ReasonExpired     = "CredentialsExpired"
)

// OwnerOf is the replica that last said that it owns a member; empty if none ever did.
func OwnerOf(member *v1alpha1.MemberCluster) string {
	if member.Status.Owner == nil {
		return ""
	}
	return member.Status.Owner.Replica
}
