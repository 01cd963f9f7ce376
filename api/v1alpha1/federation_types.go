package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FederationName is the name of the one Federation.
const FederationName = "default"

// FederationSpec holds what concerns the whole hub.
type FederationSpec struct {
	// paused stops all writes to all members, at the transport.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// FederationStatus is the layered view of all members.
type FederationStatus struct {
	// observedGeneration is the generation that the status speaks for.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// members is how many members there are.
	// +optional
	Members int32 `json:"members"`
	// ready is "<members ready>/<members>".
	// +optional
	Ready string `json:"ready,omitempty"`
	// layers is how many layers there are.
	// +optional
	Layers int32 `json:"layers"`
	// converged is "<bindings converged>/<bindings>".
	// +optional
	Converged string `json:"converged,omitempty"`
	// drift counts drifted objects on all members.
	// +optional
	Drift int32 `json:"drift"`
	// state is the worst state of any layer on any member.
	// +optional
	State State `json:"state,omitempty"`
	// message names what is worst; empty when all is well.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// stack lists the layers from bottom to top, at most 100, the worst kept.
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	Stack []LayerReport `json:"stack,omitempty"`
	// unready lists members that are not Ready, at most ten.
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	Unready []MemberReport `json:"unready,omitempty"`
	// conditions: Converged, and, while true, Reconciling and Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LayerReport is one layer in the view of all members.
type LayerReport struct {
	// layer is <name> of a ClusterLayer or <namespace>/<name> of a Layer.
	// +required
	Layer string `json:"layer"`
	// order of the layer.
	// +required
	Order int32 `json:"order"`
	// enforced is true where layers above cannot override the layer.
	// +optional
	Enforced bool `json:"enforced,omitempty"`
	// state is the worst state of the layer on any member.
	// +optional
	State State `json:"state,omitempty"`
	// converged is "<members that have converged>/<members selected>".
	// +optional
	Converged string `json:"converged,omitempty"`
}

// Federation is the hub's one view of all layers on all members, and its red button.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=fed,categories=syncline
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default'",message="there is one Federation, and its name is default"
// +kubebuilder:printcolumn:name="Members",type=integer,JSONPath=`.status.members`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Layers",type=integer,JSONPath=`.status.layers`
// +kubebuilder:printcolumn:name="Converged",type=string,JSONPath=`.status.converged`
// +kubebuilder:printcolumn:name="Drift",type=integer,JSONPath=`.status.drift`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
type Federation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec FederationSpec `json:"spec,omitempty,omitzero"`
	// +optional
	Status FederationStatus `json:"status,omitempty,omitzero"`
}

// FederationList is a list of Federations.
// +kubebuilder:object:root=true
type FederationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Federation `json:"items"`
}
