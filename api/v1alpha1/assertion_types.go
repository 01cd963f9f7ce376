package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StateAssertionSpec states something about several members at once.
type StateAssertionSpec struct {
	// clusterSelector selects members of the assertion's namespace by their labels. An empty
	// selector, the default, selects all.
	// +optional
	ClusterSelector metav1.LabelSelector `json:"clusterSelector,omitempty,omitzero"`
	// values are what is observed on each selected member.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +required
	Values []ObservedValue `json:"values"`
	// expression is CEL and true where the assertion holds. It knows "members": a map from the
	// member's name to its "labels", its "values" by name, their "age" (a duration), and whether
	// they are "observed". As in
	// members.all(m, members[m].values.ca == members["eu-1"].values.ca).
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Expression string `json:"expression"`
	// message is CEL over the same variables and gives the text that is shown where the
	// assertion does not hold.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Message string `json:"message,omitempty"`
	// maxAge is how old an observation may be to count; what is older is unknown. 5m by default.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s')",message="must be 10s or longer"
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
	// within is for how long the assertion may fail to hold before the fallback: 2m by default.
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be longer than 0s; leave it out for the default of 2m"
	// +optional
	Within *metav1.Duration `json:"within,omitempty"`
	// fallback says what happens then, beside the condition and an event. By default nothing
	// does.
	// +optional
	Fallback AssertionFallback `json:"fallback,omitempty,omitzero"`
}

// ObservedValue is one value that is observed on each member.
type ObservedValue struct {
	// name under which the assertion's expression knows the value.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z_][a-zA-Z0-9_]*$`
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`
	// observe selects the objects that the value is of, at most 500. What is observed of Secrets
	// is never stored: their values are replaced by digests, which are equal where the values
	// are.
	// +required
	Observe ObservedObjects `json:"observe"`
	// expression is CEL over "objects" and "cluster" and gives the value: at most 1 KiB of JSON.
	// Where it asks for a field or an object that is not there, the value is null.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Expression string `json:"expression"`
}

// AssertionFallback is what happens when an assertion has not held for too long.
// +kubebuilder:validation:XValidation:rule="self.action == 'Report' || has(self.layers) && size(self.layers) > 0",message="Hold and Rollback name layers"
// +kubebuilder:validation:XValidation:rule="self.action != 'Rollback' || size(self.layers) == 1",message="Rollback names one layer"
type AssertionFallback struct {
	// action: Report, the default, only tells. Hold keeps new revisions of the layers from all
	// members until the assertion holds again. Rollback returns the layer to the revision
	// before its newest, once for each revision; it takes an assertion that is false, not one
	// that is unknown.
	// +kubebuilder:default=Report
	// +optional
	Action AssertionAction `json:"action,omitempty"`
	// layers that are held or rolled back. A Layer is in the assertion's namespace.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Layers []LayerReference `json:"layers,omitempty"`
}

// AssertionAction is what is done to layers.
// +kubebuilder:validation:Enum=Report;Hold;Rollback
type AssertionAction string

// The actions. Report is the default.
const (
	AssertionReport   AssertionAction = "Report"
	AssertionHold     AssertionAction = "Hold"
	AssertionRollback AssertionAction = "Rollback"
)

// StateAssertionStatus is what the hub knows of an assertion.
type StateAssertionStatus struct {
	// observedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// holds is True, False or Unknown.
	// +optional
	Holds metav1.ConditionStatus `json:"holds,omitempty"`
	// since is since when it is so.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// members is "<members observed>/<members selected>".
	// +optional
	Members string `json:"members,omitempty"`
	// message says why the assertion does not hold, or is unknown.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// failingSince is since when it has not held; absent while it does.
	// +optional
	FailingSince *metav1.Time `json:"failingSince,omitempty"`
	// revision of the layer to be rolled back that was the newest then. With a newer one the
	// time begins anew.
	// +optional
	Revision string `json:"revision,omitempty"`
	// acted is when the fallback was carried out; absent while the assertion holds.
	// +optional
	Acted *metav1.Time `json:"acted,omitempty"`
	// rolledBack lists the revisions that were rolled back for this assertion, the newest last.
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	RolledBack []string `json:"rolledBack,omitempty"`
	// conditions: Ready (the assertion can be judged), Holds, and, while true, Stalled and
	// Reconciling.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionHolds on StateAssertion: the expression is true.
const ConditionHolds = "Holds"

// StateAssertion states something about values that are observed on several members, by when it
// has to be so, and what happens otherwise.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sassert,categories=syncline
// +kubebuilder:printcolumn:name="Holds",type=string,JSONPath=`.status.holds`
// +kubebuilder:printcolumn:name="Members",type=string,JSONPath=`.status.members`
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.fallback.action`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
type StateAssertion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec StateAssertionSpec `json:"spec"`
	// +optional
	Status StateAssertionStatus `json:"status,omitempty,omitzero"`
}

// StateAssertionList is a list of StateAssertions.
// +kubebuilder:object:root=true
type StateAssertionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []StateAssertion `json:"items"`
}

// MaxObservations is for how many assertions a member can be observed.
const MaxObservations = 32

// MemberObservation is what the member's owner last observed for one assertion.
type MemberObservation struct {
	// assertion is the name of the StateAssertion in the member's namespace.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Assertion string `json:"assertion"`
	// uid tells the assertion from another of its name, and generation what it asked for.
	// +required
	UID types.UID `json:"uid"`
	// +required
	Generation int64 `json:"generation"`
	// at is when the values were observed, by the clock of the member's owner. At rest it is
	// written anew before it is half as old as the assertion's maxAge.
	// +required
	At metav1.Time `json:"at"`
	// values that the assertion asked for.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +optional
	Values []ValueObservation `json:"values,omitempty"`
}

// ValueObservation is one observed value, or why there is none.
type ValueObservation struct {
	// name of the value.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`
	// value as JSON, at most 1 KiB; absent where it is null.
	// +optional
	Value *apiextensionsv1.JSON `json:"value,omitempty"`
	// resourceVersion of the member at which it was so.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// error says why the value is not known.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Error string `json:"error,omitempty"`
}
