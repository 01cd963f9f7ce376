package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LayerBindingSpec names the layer and the member that a binding joins.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a binding's two ends never change"
type LayerBindingSpec struct {
	// layer that is kept on the member.
	// +required
	Layer LayerReference `json:"layer"`
	// member is the name of the MemberCluster in the binding's namespace.
	// +kubebuilder:validation:MinLength=1
	// +required
	Member string `json:"member"`
}

// LayerReference names a Layer or ClusterLayer.
type LayerReference struct {
	// kind of the layer.
	// +kubebuilder:validation:Enum=Layer;ClusterLayer
	// +required
	Kind string `json:"kind"`
	// name of the layer. A Layer is in the binding's namespace.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
}

// LayerBindingStatus is what the member's owner last saw and did.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.epoch) || has(self.epoch) && self.epoch >= oldSelf.epoch",message="an owner of an older epoch must not write"
type LayerBindingStatus struct {
	// epoch of the member's owner that wrote this: see MemberCluster, status.owner.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Epoch int64 `json:"epoch,omitempty"`
	// revision is the revision that the verdict is about.
	// +optional
	Revision string `json:"revision,omitempty"`
	// layerGeneration is the layer's generation that the verdict is about.
	// +optional
	LayerGeneration int64 `json:"layerGeneration,omitempty"`
	// phase is how far the layer has come on the member.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// wait is for the revision that the member should have, until it has converged.
	// +optional
	Wait *Wait `json:"wait,omitempty"`
	// goodRevision is the revision that converged last on the member.
	// +optional
	GoodRevision string `json:"goodRevision,omitempty"`
	// state is the verdict.
	// +optional
	State State `json:"state,omitempty"`
	// since is when the state last changed.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// objects counts the objects that the layer has a part in.
	// +optional
	Objects int32 `json:"objects"`
	// healthy counts those that have converged.
	// +optional
	Healthy int32 `json:"healthy"`
	// ready is "<healthy>/<objects>".
	// +optional
	Ready string `json:"ready,omitempty"`
	// drift counts the objects that were found changed by others since the last verdict
	// and have not been mended.
	// +optional
	Drift int32 `json:"drift,omitempty"`
	// message says what holds the layer back; empty when all is well.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// problems lists what is wrong, worst first, at most ten.
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	Problems []Problem `json:"problems,omitempty"`
	// memberUID is the identity of the cluster that the inventory is about. A member that was
	// made anew under its name has another, and starts afresh.
	// +optional
	MemberUID types.UID `json:"memberUID,omitempty"`
	// inventory lists the objects on the member that this binding answers for, up to
	// twenty. It has one writer, and is atomic so that the server does not keep track of
	// its every field.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Inventory []InventoryEntry `json:"inventory,omitempty"`
	// inventoryData holds the inventory in a compact form instead, where there are more
	// (package federation/inventory says which).
	// +kubebuilder:validation:MaxLength=786432
	// +optional
	InventoryData []byte `json:"inventoryData,omitempty"`
	// conditions: Converged, and, while true, Reconciling and Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Problem is one thing that is wrong with one object of a layer.
type Problem struct {
	// object, as in "Deployment shop/web"; empty for the layer as a whole.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Object string `json:"object,omitempty"`
	// path of the field, where one is to blame.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Path string `json:"path,omitempty"`
	// reason is a CamelCase word.
	// +kubebuilder:validation:MaxLength=128
	// +required
	Reason string `json:"reason"`
	// message says what is wrong and the way out.
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Message string `json:"message"`
}

// InventoryEntry is one object on the member.
type InventoryEntry struct {
	// id is <group>/<kind>/<namespace>/<name>.
	// +required
	ID string `json:"id"`
	// version of the group in which the object was last applied.
	// +required
	Version string `json:"version"`
	// uid of the object; empty between the decision to create it and its creation.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// applied is the digest of what was last sent.
	// +optional
	Applied string `json:"applied,omitempty"`
	// owned is the digest of the fields that we own, as the server returned them.
	// +optional
	Owned string `json:"owned,omitempty"`
	// yielded lists fields that the layers set and that were left to other managers.
	// +listType=atomic
	// +optional
	Yielded []YieldedField `json:"yielded,omitempty"`
}

// YieldedField is a field that was left to another manager.
type YieldedField struct {
	// path of the field, as in spec.replicas.
	// +required
	Path string `json:"path"`
	// manager that holds it.
	// +required
	Manager string `json:"manager"`
}

// LayerBinding is one layer on one member. The member's owner makes, serves and removes it.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lb,categories=syncline
// +kubebuilder:printcolumn:name="Member",type=string,JSONPath=`.spec.member`
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.layer.kind`,priority=1
// +kubebuilder:printcolumn:name="Layer",type=string,JSONPath=`.spec.layer.name`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Outcome",type=string,JSONPath=`.status.wait.outcome`,priority=1
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
type LayerBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec LayerBindingSpec `json:"spec"`
	// +optional
	Status LayerBindingStatus `json:"status,omitempty,omitzero"`
}

// LayerBindingList is a list of LayerBindings.
// +kubebuilder:object:root=true
type LayerBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LayerBinding `json:"items"`
}
