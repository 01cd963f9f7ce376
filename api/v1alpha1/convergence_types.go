package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Consistency says whether layers above wait for a layer.
// +kubebuilder:validation:Enum=Eventual;Strict
type Consistency string

// The consistencies. Eventual is the default.
const (
	ConsistencyEventual Consistency = "Eventual"
	ConsistencyStrict   Consistency = "Strict"
)

// Approval says who lets a new revision of a layer go to members.
// +kubebuilder:validation:Enum=Automatic;Manual
type Approval string

// The approvals. Automatic is the default.
const (
	ApprovalAutomatic Approval = "Automatic"
	ApprovalManual    Approval = "Manual"
)

// ConvergencePolicy says what converged means beyond healthy objects, by when a new revision
// has to converge on a member, and what happens there if it does not.
type ConvergencePolicy struct {
	ConvergenceTimes `json:",inline"`
	// fallback says what happens on a member on which a revision has not converged in time.
	// Hold, the default, leaves all as it is and waits for a person or a newer revision.
	// Rollback returns the layer to the revision that converged last on that member. Skip
	// leaves it as it is and lets the layers above go on. Retry sends everything again, and
	// waits again, as often as retries says; then it holds.
	// +optional
	Fallback Fallback `json:"fallback,omitempty"`
	// retries is how often Retry tries again: 3 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Retries *int32 `json:"retries,omitempty"`
	// assertions must hold on a member before the layer has converged there.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Assertions []Assertion `json:"assertions,omitempty"`
	// health says when objects of kinds that do not follow Kubernetes' conventions are
	// healthy.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Health []HealthRule `json:"health,omitempty"`
	// relaxations change what is asked of some members, such as those at the edge. Of several
	// that select a member the first counts.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Relaxations []Relaxation `json:"relaxations,omitempty"`
}

// ConvergenceTimes are counted from when a member is given a revision, and stand still while
// the member is paused.
// +kubebuilder:validation:XValidation:rule="!has(self.pendingAfter) || !has(self.timeout) || duration(self.pendingAfter) <= duration(self.timeout)",message="pendingAfter must not be longer than timeout"
type ConvergenceTimes struct {
	// pendingAfter is when people are told, by an event, that a revision takes its time: 30s by
	// default, or the timeout where that is shorter.
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be longer than 0s"
	// +optional
	PendingAfter *metav1.Duration `json:"pendingAfter,omitempty"`
	// timeout is the deadline: 2m by default.
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be longer than 0s; leave it out for the default of 2m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// Fallback is what happens on a member on which a revision has not converged in time.
// +kubebuilder:validation:Enum=Hold;Rollback;Skip;Retry
type Fallback string

// The fallbacks. Hold is the default.
const (
	FallbackHold     Fallback = "Hold"
	FallbackRollback Fallback = "Rollback"
	FallbackSkip     Fallback = "Skip"
	FallbackRetry    Fallback = "Retry"
)

// Assertion is something that must be so on a member.
type Assertion struct {
	// name tells assertions of the layer apart.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`
	// observe selects objects on the member, of any owner. They are what the expression knows as
	// "objects". Without it these are the layer's own.
	// +optional
	Observe *ObservedObjects `json:"observe,omitempty"`
	// expression is CEL and true where the assertion holds. It knows "objects" (the selected
	// objects), "layer" (the layer's own objects) and "cluster" (name, namespace, labels and
	// version of the member). A field that is absent makes it false.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Expression string `json:"expression"`
	// message is CEL over the same variables and gives the text that is shown where the
	// assertion does not hold.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Message string `json:"message,omitempty"`
}

// ObservedObjects selects objects of one kind on a member.
type ObservedObjects struct {
	// group of the kind; the core group is "", the default.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Group string `json:"group,omitempty"`
	// version of the group; by default the one that the member prefers.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Version string `json:"version,omitempty"`
	// kind, such as Pod.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// namespace of the objects; by default all.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the one object.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`
	// labelSelector in the form of kubectl's --selector: app=web,tier in (a, b).
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
}

// HealthRule says when objects of one kind are healthy, in CEL over "object", the live object.
// Failed is asked first, then inProgress, then current; where none is true the object is in
// progress. A status that speaks of an older generation makes it in progress whatever
// the rule says.
type HealthRule struct {
	// group of the kind; the core group is "", the default.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Group string `json:"group,omitempty"`
	// kind, such as Certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// current is true of a healthy object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	Current string `json:"current"`
	// inProgress is true of an object that is on its way.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	InProgress string `json:"inProgress,omitempty"`
	// failed is true of an object that will not become healthy by itself.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Failed string `json:"failed,omitempty"`
}

// Relaxation asks less of some members.
type Relaxation struct {
	// clusterSelector selects members by their labels.
	// +required
	ClusterSelector metav1.LabelSelector `json:"clusterSelector"`

	ConvergenceTimes `json:",inline"`
	// minHealthyPercent is how many of the layer's objects must be healthy, once all of them are
	// applied and seen: 100 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	MinHealthyPercent *int32 `json:"minHealthyPercent,omitempty"`
	// tolerateUnknown lets the times stand still also while the member cannot be seen.
	// +optional
	TolerateUnknown bool `json:"tolerateUnknown,omitempty"`
}

// Phase is how far a layer has come on a member.
// +kubebuilder:validation:Enum=Pending;Applying;Verifying;Converged;Degraded;TimedOut;AwaitingApproval;Paused;Unknown
type Phase string

// The phases.
const (
	// PhasePending: the revision is not given to the member yet: a Strict layer below has not
	// converged there, or something holds the layer.
	PhasePending Phase = "Pending"
	// PhaseAwaitingApproval: moreover, what it waits for is a person's approval.
	PhaseAwaitingApproval Phase = "AwaitingApproval"
	// PhaseApplying: something is still to be written.
	PhaseApplying Phase = "Applying"
	// PhaseVerifying: all is written, and not all of it has been seen to be well.
	PhaseVerifying Phase = "Verifying"
	// PhaseConverged: the member has the revision, and all is well.
	PhaseConverged Phase = "Converged"
	// PhaseDegraded: something has failed that will not pass by itself.
	PhaseDegraded Phase = "Degraded"
	// PhaseTimedOut: the deadline has passed; the outcome says what was done.
	PhaseTimedOut Phase = "TimedOut"
	// PhasePaused: there is something to write, and writing is paused.
	PhasePaused Phase = "Paused"
	// PhaseUnknown: the member cannot be seen.
	PhaseUnknown Phase = "Unknown"
)

// Outcome is what was done about a revision that has not converged in time.
// +kubebuilder:validation:Enum=Holding;RolledBack;Skipped;Retrying
type Outcome string

// The outcomes.
const (
	OutcomeHolding    Outcome = "Holding"
	OutcomeRolledBack Outcome = "RolledBack"
	OutcomeSkipped    Outcome = "Skipped"
	OutcomeRetrying   Outcome = "Retrying"
)

// Wait is the time that a revision has to converge on a member, and what came of it.
type Wait struct {
	// revision that the member should have.
	// +required
	Revision string `json:"revision"`
	// started is when the member was given the revision; absent until then.
	// +optional
	Started *metav1.Time `json:"started,omitempty"`
	// pendingAt is when people are told that it takes its time. It moves on while the clock
	// stands still, as does timeoutAt.
	// +optional
	PendingAt *metav1.Time `json:"pendingAt,omitempty"`
	// slow says that people have been told.
	// +optional
	Slow bool `json:"slow,omitempty"`
	// timeoutAt is the deadline.
	// +optional
	TimeoutAt *metav1.Time `json:"timeoutAt,omitempty"`
	// stoppedAt is since when the clock stands still; absent while it runs.
	// +optional
	StoppedAt *metav1.Time `json:"stoppedAt,omitempty"`
	// attempt counts how often the member was given the revision.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// outcome is what was done when the deadline had passed.
	// +optional
	Outcome Outcome `json:"outcome,omitempty"`
	// outcomeAt is when that was done.
	// +optional
	OutcomeAt *metav1.Time `json:"outcomeAt,omitempty"`
	// cause names what held the revision then.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Cause string `json:"cause,omitempty"`
}
