package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MemberClusterSpec names where a member's credentials are.
type MemberClusterSpec struct {
	// kubeconfigSecret is the name of the Secret, in the same namespace, that holds the
	// kubeconfig under the key "value".
	// +kubebuilder:validation:MinLength=1
	// +required
	KubeconfigSecret string `json:"kubeconfigSecret"`
	// paused stops all writes to this member.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// MemberClusterStatus is what is known of a member.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.owner) || has(self.owner) && self.owner.epoch >= oldSelf.owner.epoch",message="an owner of an older epoch must not write"
type MemberClusterStatus struct {
	// observedGeneration is the generation that the conditions speak for.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// uid is the UID of the member's kube-system namespace: the member's identity.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// version is the member's Kubernetes version.
	// +optional
	Version string `json:"version,omitempty"`
	// owner is the manager replica that writes to the member, as it said itself. Whether it
	// still does is said by the condition Ownerless.
	// +optional
	Owner *MemberOwner `json:"owner,omitempty"`
	// credentialsExpire is when the kubeconfig's certificate or token expires.
	// +optional
	CredentialsExpire *metav1.Time `json:"credentialsExpire,omitempty"`
	// lastSeen is when an unreachable member last answered. It is absent while the member
	// is reachable: nothing is written at rest.
	// +optional
	LastSeen *metav1.Time `json:"lastSeen,omitempty"`
	// layers is "<layers converged>/<layers on the member>".
	// +optional
	Layers string `json:"layers,omitempty"`
	// orphans tells of objects that were left on the member since it could not be reached
	// when their layer was deleted.
	// +optional
	Orphans *Orphans `json:"orphans,omitempty"`
	// observations are what the owner last observed for StateAssertions, by their names.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=assertion
	// +optional
	Observations []MemberObservation `json:"observations,omitempty"`
	// conditions: Ready, Registered, Reachable, and, while true, Paused, Duplicate, Barred,
	// CredentialsExpiring and Ownerless.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MemberOwner is one time of ownership of a member.
type MemberOwner struct {
	// replica is the name of the manager replica.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Replica string `json:"replica"`
	// shard of the member: replicas own members shard by shard.
	// +kubebuilder:validation:Minimum=0
	// +required
	Shard int32 `json:"shard"`
	// epoch exceeds that of every earlier owner. The member's audit log shows it in the
	// User-Agent of each write.
	// +kubebuilder:validation:Minimum=1
	// +required
	Epoch int64 `json:"epoch"`
	// since is when this ownership began.
	// +required
	Since metav1.Time `json:"since"`
}

// Orphans are objects that nobody answers for any more.
type Orphans struct {
	// count of the objects.
	// +required
	Count int32 `json:"count"`
	// since is when the last of them were left.
	// +required
	Since metav1.Time `json:"since"`
	// objects names some of them, at most twenty, as in "Deployment shop/web (fleet/web)".
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Objects []string `json:"objects,omitempty"`
}

// MemberCluster is a cluster whose state the hub keeps. Registration makes one for every
// Cluster API kubeconfig Secret; its labels are those of the Cluster, and of the Secret.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mc,categories=syncline
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Owner",type=string,JSONPath=`.status.owner.replica`
// +kubebuilder:printcolumn:name="Layers",type=string,JSONPath=`.status.layers`
// +kubebuilder:printcolumn:name="Last seen",type=date,JSONPath=`.status.lastSeen`
// +kubebuilder:printcolumn:name="Credentials",type=string,JSONPath=`.status.credentialsExpire`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type MemberCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec MemberClusterSpec `json:"spec"`
	// +optional
	Status MemberClusterStatus `json:"status,omitempty,omitzero"`
}

// MemberClusterList is a list of MemberClusters.
// +kubebuilder:object:root=true
type MemberClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MemberCluster `json:"items"`
}
