package v1alpha1

// State is where a layer stands on a member, or the worst of many such.
// +kubebuilder:validation:Enum=Converged;Progressing;Degraded;Paused;Unknown
type State string

// The states. Each is a statement about one revision at one time; see the conditions
// beside it for which.
const (
	// StateConverged: the member has the wanted revision and every object is healthy,
	// as seen no earlier than our own last write.
	StateConverged State = "Converged"
	// StateProgressing: something is on its way and nothing has failed.
	StateProgressing State = "Progressing"
	// StateDegraded: something needs a person, or keeps failing.
	StateDegraded State = "Degraded"
	// StatePaused: there is something to write, and writing is paused.
	StatePaused State = "Paused"
	// StateUnknown: the member cannot be seen.
	StateUnknown State = "Unknown"
)

// Condition types.
const (
	// ConditionConverged on LayerBinding, Layer, ClusterLayer and Federation.
	ConditionConverged = "Converged"
	// ConditionRendered on Layer and ClusterLayer: the content was read and is a revision.
	ConditionRendered = "Rendered"
	// ConditionReconciling is present, and True, while work is under way (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present, and True, while a person is needed (kstatus).
	ConditionStalled = "Stalled"
	// ConditionReady on MemberCluster: registered, reachable and the cluster we knew.
	ConditionReady = "Ready"
	// ConditionRegistered on MemberCluster: the kubeconfig can be used.
	ConditionRegistered = "Registered"
	// ConditionReachable on MemberCluster: the last probes were answered.
	ConditionReachable = "Reachable"
	// ConditionPaused on MemberCluster is present, and True, while Cluster API's Cluster
	// or the MemberCluster itself is paused.
	ConditionPaused = "Paused"
	// ConditionDuplicate on MemberCluster is present, and True, while another MemberCluster
	// is the same cluster.
	ConditionDuplicate = "Duplicate"
	// ConditionBarred on MemberCluster is present, and True, while the member answers and is
	// not written to all the same: it is another member's cluster, or too old.
	ConditionBarred = "Barred"
	// ConditionCredentialsExpiring on MemberCluster is present, and True, while the
	// credentials are about to expire, or have expired.
	ConditionCredentialsExpiring = "CredentialsExpiring"
	// ConditionOwnerless on MemberCluster is present, and True, while no replica has owned the
	// member for longer than a takeover takes: nobody keeps it, and what is said of it is old.
	ConditionOwnerless = "Ownerless"
)

// Labels and annotations. The first two are on members' objects, the others on the hub.
const (
	// LabelHub marks an object on a member as ours; its value is the hub's id.
	LabelHub = "syncline.dev/hub"
	// AnnotationLayer names the home layer of an object on a member.
	AnnotationLayer = "syncline.dev/layer"
	// AnnotationApproved on a layer names the revision that a person approves, as in
	// "web-5f3c9a2b10 by alice".
	AnnotationApproved = "syncline.dev/approved"
	// AnnotationRollback on a layer names the earlier revision that a person chooses, as in
	// "web-5f3c9a2b10 instead of web-77ab01c2d3 by alice".
	AnnotationRollback = "syncline.dev/rollback"
	// LabelMember is the (shortened) name of the member that a binding is for.
	LabelMember = "syncline.dev/member"
	// LabelLayer is the hashed identity of the layer that a binding or revision is for.
	LabelLayer = "syncline.dev/layer-id"
)

// The words in the annotations by which people choose revisions.
const (
	ChosenBy  = " by "
	InsteadOf = " instead of "
)

// FieldManager is the field manager of everything we apply on members.
const FieldManager = "syncline"

// Finalizer holds Layers, ClusterLayers and LayerBindings until their work is undone.
const Finalizer = "syncline.dev/cleanup"
