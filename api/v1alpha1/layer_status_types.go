package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LayerStatus is what the hub knows of a layer on all its members.
type LayerStatus struct {
	// observedGeneration is the generation that revision was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// revision names the newest revision: the ControllerRevision (and, for what came from
	// Secrets, the Secret) that holds the layer's content.
	// +optional
	Revision string `json:"revision,omitempty"`
	// revisionNumber counts the layer's revisions.
	// +optional
	RevisionNumber int64 `json:"revisionNumber,omitempty"`
	// approved is the revision that was last approved; of a layer whose approval is Manual,
	// members are given this one.
	// +optional
	Approved *RevisionChoice `json:"approved,omitempty"`
	// rolledBack is what was chosen instead of the newest revision, by a person or a
	// StateAssertion; a newer one ends it.
	// +optional
	RolledBack *Rollback `json:"rolledBack,omitempty"`
	// heldBy names what keeps new revisions of the layer from members, as in
	// "StateAssertion fleet/one-ca".
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	// +optional
	HeldBy []string `json:"heldBy,omitempty"`
	// state is the worst state of the layer on any member.
	// +optional
	State State `json:"state,omitempty"`
	// since is when the state last changed.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// converged is "<members that have converged>/<members selected>".
	// +optional
	Converged string `json:"converged,omitempty"`
	// members counts the selected members by state.
	// +optional
	Members MemberCounts `json:"members,omitempty,omitzero"`
	// message names the worst member and what holds it; empty when all is well.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// worst lists the members that are furthest from converged, at most five.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	Worst []MemberReport `json:"worst,omitempty"`
	// conditions: Rendered, Converged, and, while true, Reconciling and Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RevisionChoice is a revision that a person chose.
type RevisionChoice struct {
	// revision that was chosen.
	// +required
	Revision string `json:"revision"`
	// by is who chose it, as the hub knew the person.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	By string `json:"by,omitempty"`
	// at is when the hub heard of it.
	// +required
	At metav1.Time `json:"at"`
}

// Rollback is a person's choice of an earlier revision.
type Rollback struct {
	RevisionChoice `json:",inline"`
	// from is the newest revision then. The choice counts only while that is the newest.
	// +required
	From string `json:"from"`
}

// MemberCounts counts members by the state of a layer on them.
type MemberCounts struct {
	// +optional
	Total int32 `json:"total"`
	// +optional
	Converged int32 `json:"converged"`
	// +optional
	Progressing int32 `json:"progressing,omitempty"`
	// +optional
	Degraded int32 `json:"degraded,omitempty"`
	// +optional
	Paused int32 `json:"paused,omitempty"`
	// +optional
	Unknown int32 `json:"unknown,omitempty"`
}

// MemberReport is one line about one member.
type MemberReport struct {
	// member is <namespace>/<name> of the MemberCluster.
	// +required
	Member string `json:"member"`
	// state of the layer on the member.
	// +required
	State State `json:"state"`
	// message says what holds the member.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Message string `json:"message,omitempty"`
}
