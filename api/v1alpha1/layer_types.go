package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LayerSpec says what a layer holds, which members it reaches and how it is kept there.
type LayerSpec struct {
	// order places the layer in a member's stack: a higher order overrides a lower one,
	// field by field. Layers of one order stand ClusterLayer before Layer, then by name.
	// +kubebuilder:validation:Minimum=-100000
	// +kubebuilder:validation:Maximum=100000
	// +required
	Order int32 `json:"order"`

	// clusterSelector selects members by the labels of their MemberCluster. An empty
	// selector selects every member within reach: a Layer reaches the members of its own
	// namespace, a ClusterLayer reaches all. Without a selector the layer reaches none.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// enforce keeps layers above from overriding any field that this layer sets. An
	// attempt is reported on the binding of the layer that made it.
	// +optional
	Enforce bool `json:"enforce,omitempty"`

	// template turns on ${...} in the string values of manifests and patches. CEL evaluates
	// each as a CEL expression over the member's facts; a value that is one expression
	// keeps the expression's type, and $${ stands for a literal ${.
	// +kubebuilder:validation:Enum=CEL
	// +optional
	Template TemplateLanguage `json:"template,omitempty"`

	// manifests are objects, or parts of objects that lower layers hold. A null removes
	// what lower layers set and is never sent to a member.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:MaxItems=2000
	// +listType=atomic
	// +optional
	Manifests []runtime.RawExtension `json:"manifests,omitempty"`

	// manifestsFrom adds manifests from ConfigMaps and Secrets: every key holds YAML or
	// JSON documents, read in the keys' order. A Layer reads them from its own namespace,
	// a ClusterLayer from the namespace of the hub's manager.
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	ManifestsFrom []ManifestsSource `json:"manifestsFrom,omitempty"`

	// patches change objects of this layer and of the layers below, in the order given.
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	// +optional
	Patches []Patch `json:"patches,omitempty"`

	// when is CEL over a member's facts: the layer applies only to members of which it is true.
	// It knows "cluster" (name, namespace, labels, version), "kinds" (what the member serves,
	// as "apps/v1/Deployment") and "nodes" (name, labels and capacity of each). While the facts
	// are not known a member keeps what it has.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	When string `json:"when,omitempty"`

	// consistency says whether layers above wait on a member until this one has converged
	// there. Eventual, the default, lets them go on; Strict has them wait.
	// +optional
	Consistency Consistency `json:"consistency,omitempty"`

	// approval says who lets a new revision go to members. Automatic, the default, does so at
	// once; with Manual it waits for "synclinectl approve".
	// +optional
	Approval Approval `json:"approval,omitempty"`

	// convergence says what converged means, by when, and what happens otherwise. It takes
	// effect at once and makes no new revision.
	// +optional
	Convergence ConvergencePolicy `json:"convergence,omitempty,omitzero"`

	// sync says how the layer's objects are kept on members. It takes effect at once and
	// makes no new revision.
	// +optional
	Sync SyncPolicy `json:"sync,omitempty,omitzero"`

	// deletionPolicy says what becomes of the layer's objects on a member that the layer
	// leaves: because it is deleted, or because its selector no longer selects the member.
	// Delete, the default, deletes them; Orphan leaves them there, without our marks.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// revisionHistoryLimit is how many past revisions are kept beside those in use.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// TemplateLanguage names the language of ${...} in manifests.
type TemplateLanguage string

// TemplateCEL evaluates ${...} as CEL.
const TemplateCEL TemplateLanguage = "CEL"

// ManifestsSource names one object that holds manifests.
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="name exactly one of configMap and secret"
type ManifestsSource struct {
	// configMap holds manifests in its data and binaryData.
	// +optional
	ConfigMap *ManifestsReference `json:"configMap,omitempty"`
	// secret holds manifests in its data. What comes from it is kept in a Secret.
	// +optional
	Secret *ManifestsReference `json:"secret,omitempty"`
}

// ManifestsReference names a ConfigMap or Secret.
type ManifestsReference struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// Patch changes the objects that its target selects.
// +kubebuilder:validation:XValidation:rule="has(self.merge) != has(self.jsonPatch)",message="give exactly one of merge and jsonPatch"
type Patch struct {
	// target selects the objects to change.
	// +required
	Target Target `json:"target"`
	// merge is a part of an object, merged as a layer's manifest would be: lists by their
	// keys, null removes. An entry of a keyed list with "$patch: delete" is removed.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Merge *runtime.RawExtension `json:"merge,omitempty"`
	// jsonPatch is a JSON patch (RFC 6902).
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	// +optional
	JSONPatch []JSONPatchOperation `json:"jsonPatch,omitempty"`
}

// Target selects objects. Every field given must match; at least one is given.
// +kubebuilder:validation:MinProperties=1
type Target struct {
	// group of the kind; the core group is "".
	// +optional
	Group *string `json:"group,omitempty"`
	// kind, such as Deployment.
	// +optional
	Kind string `json:"kind,omitempty"`
	// namespace of the object.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	// +optional
	Name string `json:"name,omitempty"`
	// labelSelector matches the object's labels.
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// JSONPatchOperation is one operation of RFC 6902.
// +kubebuilder:validation:XValidation:rule="!(self.op in ['move','copy']) || has(self.from)",message="move and copy need from"
type JSONPatchOperation struct {
	// op is the operation.
	// +kubebuilder:validation:Enum=add;remove;replace;move;copy;test
	// +required
	Op string `json:"op"`
	// path is a JSON pointer (RFC 6901).
	// +kubebuilder:validation:Pattern=`^(/.*)?$`
	// +required
	Path string `json:"path"`
	// from is the source of move and copy.
	// +optional
	From string `json:"from,omitempty"`
	// value of add, replace and test.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	Value *runtime.RawExtension `json:"value,omitempty"`
}

// DeletionPolicy says what becomes of objects that a layer leaves.
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

// The deletion policies. Delete is the default.
const (
	DeletionDelete DeletionPolicy = "Delete"
	DeletionOrphan DeletionPolicy = "Orphan"
)

// SyncPolicy says how a layer's objects are kept on members. It is about the objects whose
// home is the layer: the lowest layer that holds them.
type SyncPolicy struct {
	// prune deletes objects from members when the layer no longer holds them. It is on by
	// default; when it is off such objects stay and are no longer ours.
	// +optional
	Prune *bool `json:"prune,omitempty"`
	// pruneLimit is how many objects one edit of the layer may have deleted from a member;
	// an edit that would delete more waits for a person. By default it is ten, or half of
	// what the layer has on the member if that is more. 0 deletes nothing without a person.
	// +kubebuilder:validation:Minimum=0
	// +optional
	PruneLimit *int32 `json:"pruneLimit,omitempty"`
	// allowEmpty lets a layer that has become empty, or whose selector has come to select
	// nobody, delete all that it had. Otherwise that waits for a person: it is more often a
	// mistake than a wish.
	// +optional
	AllowEmpty bool `json:"allowEmpty,omitempty"`
	// pruneCascading deletes also what takes others along: Namespaces,
	// CustomResourceDefinitions and PersistentVolumeClaims. Otherwise these stay on the
	// members when the layer no longer holds them, or is deleted, and are no longer ours.
	// +optional
	PruneCascading bool `json:"pruneCascading,omitempty"`
	// drift says what to do when others change or delete what is ours. Correct, the default,
	// puts it back; Report only tells of it.
	// +optional
	Drift DriftPolicy `json:"drift,omitempty"`
	// conflicts says what to do about fields that another manager on the member holds.
	// Force, the default, takes them; Yield leaves them to the other and shows it; Fail
	// leaves the object as it is and reports the conflict.
	// +optional
	Conflicts ConflictPolicy `json:"conflicts,omitempty"`
	// adopt says what to do about objects that are on the member before us. Always, the
	// default, makes them ours; IfUnmanaged does so unless another tool keeps them; Never
	// leaves them alone and reports them.
	// +optional
	Adopt AdoptPolicy `json:"adopt,omitempty"`
	// recreate selects objects that may be deleted and made anew when a field has changed
	// that the member does not let change. Other objects are left as they are, and the
	// refusal is reported. Namespaces, CustomResourceDefinitions and
	// PersistentVolumeClaims are never made anew.
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	Recreate []Target `json:"recreate,omitempty"`
	// ignore cedes fields to others: what it selects is never sent and never drift.
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	Ignore []IgnoreRule `json:"ignore,omitempty"`
}

// DriftPolicy says what to do about drift.
// +kubebuilder:validation:Enum=Correct;Report
type DriftPolicy string

// The drift policies. Correct is the default.
const (
	DriftCorrect DriftPolicy = "Correct"
	DriftReport  DriftPolicy = "Report"
)

// ConflictPolicy says what to do about fields that another manager holds.
// +kubebuilder:validation:Enum=Force;Yield;Fail
type ConflictPolicy string

// The conflict policies. Force is the default.
const (
	ConflictForce ConflictPolicy = "Force"
	ConflictYield ConflictPolicy = "Yield"
	ConflictFail  ConflictPolicy = "Fail"
)

// AdoptPolicy says what to do about objects that are there before us.
// +kubebuilder:validation:Enum=Always;IfUnmanaged;Never
type AdoptPolicy string

// The adoption policies. Always is the default.
const (
	AdoptAlways      AdoptPolicy = "Always"
	AdoptIfUnmanaged AdoptPolicy = "IfUnmanaged"
	AdoptNever       AdoptPolicy = "Never"
)

// IgnoreRule cedes fields of the objects that its target selects.
type IgnoreRule struct {
	// target selects objects whose home is this layer.
	// +required
	Target Target `json:"target"`
	// when is a CEL expression over "object", the object as the layers make it. The rule
	// holds only where it is true: object.spec.replicas > 1. A field that is absent makes it
	// false.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	When string `json:"when,omitempty"`
	// paths are JSON pointers (RFC 6901) such as /spec/replicas.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:Pattern=`^/.+$`
	// +listType=set
	// +required
	Paths []string `json:"paths"`
}

// Layer is one layer of desired state for members of its own namespace.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ly,categories=syncline
// +kubebuilder:printcolumn:name="Order",type=integer,JSONPath=`.spec.order`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Converged",type=string,JSONPath=`.status.converged`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
type Layer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec LayerSpec `json:"spec"`
	// +optional
	Status LayerStatus `json:"status,omitempty,omitzero"`
}

// LayerList is a list of Layers.
// +kubebuilder:object:root=true
type LayerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Layer `json:"items"`
}

// ClusterLayer is one layer of desired state for members of every namespace.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=clayer;clayers,categories=syncline
// +kubebuilder:printcolumn:name="Order",type=integer,JSONPath=`.spec.order`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Converged",type=string,JSONPath=`.status.converged`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
type ClusterLayer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec LayerSpec `json:"spec"`
	// +optional
	Status LayerStatus `json:"status,omitempty,omitzero"`
}

// ClusterLayerList is a list of ClusterLayers.
// +kubebuilder:object:root=true
type ClusterLayerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterLayer `json:"items"`
}

// Layered is a Layer or a ClusterLayer.
// +kubebuilder:object:generate=false
type Layered interface {
	client.Object
	// LayerKind is "Layer" or "ClusterLayer".
	LayerKind() string
	// LayerSpec is the object's own spec, not a copy.
	LayerSpec() *LayerSpec
	// LayerStatus is the object's own status, not a copy.
	LayerStatus() *LayerStatus
}

// The kinds that are Layered.
const (
	KindLayer        = "Layer"
	KindClusterLayer = "ClusterLayer"
)

// LayerKind implements Layered.
func (*Layer) LayerKind() string { return KindLayer }

// LayerSpec implements Layered.
func (l *Layer) LayerSpec() *LayerSpec { return &l.Spec }

// LayerStatus implements Layered.
func (l *Layer) LayerStatus() *LayerStatus { return &l.Status }

// LayerKind implements Layered.
func (*ClusterLayer) LayerKind() string { return KindClusterLayer }

// LayerSpec implements Layered.
func (l *ClusterLayer) LayerSpec() *LayerSpec { return &l.Spec }

// LayerStatus implements Layered.
func (l *ClusterLayer) LayerStatus() *LayerStatus { return &l.Status }
