package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// oldestVersion is the oldest Kubernetes that members may run.
var oldestVersion = version.MustParseGeneric("v1.28.0")

// Reasons for which a member that answers is not written to.
const (
	reasonDuplicate = "DuplicateMember"
	reasonTooOld    = "VersionUnsupported"
)

// introduces says whether the member turns out to be a cluster that the hub does not know it
// to be. That is written down before anything is written to the member: only then can two
// MemberClusters that are one cluster know of each other.
func (p *pass) introduces() bool {
	uid := p.connection.reach.UID
	return p.connection.usable() && uid != "" && uid != p.member.Status.UID
}

// identify finds out whether the member is one that we may write to.
func (r *Reconciler) identify(ctx context.Context, p *pass) error {
	if !p.connection.usable() {
		return nil
	}
	uid := p.connection.reach.UID
	if uid != "" && !r.AllowDuplicates {
		if err := r.findTwin(ctx, p); err != nil {
			return err
		}
	}
	if string(uid) == r.HubID {
		if err := r.findHub(ctx, p); err != nil {
			return err
		}
	}
	is, err := version.ParseGeneric(p.connection.reach.Version)
	switch {
	case p.twin != nil && elder(p.twin, p.member):
		p.barred = &object.Problem{Severity: object.Error, Reason: reasonDuplicate, Detail: fmt.Sprintf(
			"it is the cluster that MemberCluster %s/%s is, and is served as that: delete one of the two", p.twin.Namespace, p.twin.Name)}
	case err == nil && is.LessThan(oldestVersion):
		p.barred = &object.Problem{Severity: object.Error, Reason: reasonTooOld, Detail: fmt.Sprintf(
			"the member runs Kubernetes %s, and the oldest that is supported is v%s: upgrade it", p.connection.reach.Version, oldestVersion)}
	}
	return nil
}

// findTwin finds another MemberCluster that is the same cluster, the eldest of several.
func (r *Reconciler) findTwin(ctx context.Context, p *pass) error {
	same, err := hub.MembersWithUID(ctx, r.Client, p.connection.reach.UID)
	if err != nil {
		return err
	}
	same = slices.DeleteFunc(same, func(m v1alpha1.MemberCluster) bool {
		return m.UID == p.member.UID || !m.DeletionTimestamp.IsZero()
	})
	for i := range same {
		if p.twin == nil || elder(&same[i], p.twin) {
			p.twin = &same[i]
		}
	}
	return nil
}

// elder says whether one of two MemberClusters that are one cluster is the one to be served.
func elder(a, b *v1alpha1.MemberCluster) bool {
	return cmp.Or(
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name),
	) < 0
}

// findHub finds the namespaces in which the hub lives, for a member that is the hub itself.
func (r *Reconciler) findHub(ctx context.Context, p *pass) error {
	var members v1alpha1.MemberClusterList
	if err := r.Client.List(ctx, &members); err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	p.hubNamespaces = map[string]bool{r.SystemNamespace: true}
	for i := range members.Items {
		p.hubNamespaces[members.Items[i].Namespace] = true
	}
	return nil
}

// recordMember writes what the owner knows of the member. The layers are "<converged>/<all>";
// empty leaves what was last said.
func (r *Reconciler) recordMember(ctx context.Context, p *pass, layers string) error {
	if err := r.mayStillWrite(p.snapshot); err != nil {
		return err
	}
	after := p.member.DeepCopy()
	status := &after.Status
	status.Owner = r.ownerOf(p.snapshot)
	status.Layers = cmp.Or(layers, status.Layers)
	status.Version = cmp.Or(p.connection.reach.Version, status.Version)
	status.UID = cmp.Or(p.connection.reach.UID, status.UID)
	status.Orphans = addOrphans(status.Orphans, p.orphans, metav1.NewTime(p.now))
	reachable := p.reachable()
	status.LastSeen = nil
	if seen := p.lastSeen(); reachable.Status != metav1.ConditionTrue && !seen.IsZero() {
		status.LastSeen = &seen
	}
	hub.SetCondition(after, reachable)
	if p.connection.usable() {
		p.recordIdentity(after)
	}
	hub.SummarizeMember(after)
	if rest := p.pages.pace.rest(memberPace, p.now); rest > 0 && onlyCounts(&p.member.Status, status) {
		p.wakeIn(rest)
		return nil
	}
	wrote, err := hub.PatchStatus(ctx, r.Client, p.member, after)
	if err != nil {
		return err
	}
	if wrote {
		p.pages.pace.written(memberPace, r.Clock.Now())
	}
	r.tellOwner(p.snapshot)
	return nil
}

// memberPace is the name under which the writes of the MemberCluster's own status are paced: no
// binding has it.
const memberPace = ""

// onlyCounts says whether a member's status says nothing new but how many layers have
// converged.
func onlyCounts(before, after *v1alpha1.MemberClusterStatus) bool {
	same := after.DeepCopy()
	same.Layers = before.Layers
	return equality.Semantic.DeepEqual(before, same)
}

// reachable is the condition of this name.
func (p *pass) reachable() metav1.Condition {
	reach := p.connection.reach
	reachable := metav1.Condition{Type: v1alpha1.ConditionReachable, Status: metav1.ConditionTrue, Reason: "Reachable"}
	switch {
	case p.connection.member == nil || reach.Since.IsZero():
		reachable.Status, reachable.Reason, reachable.Message = metav1.ConditionUnknown, "Connecting", "the member has not answered yet"
	case !reach.Reachable:
		reachable.Status, reachable.Reason, reachable.Message = metav1.ConditionFalse, "Unreachable", reach.Err
	}
	return reachable
}

// recordIdentity sets the conditions that say whether the member is one that we may write to.
func (p *pass) recordIdentity(member *v1alpha1.MemberCluster) {
	duplicate := metav1.Condition{Type: v1alpha1.ConditionDuplicate, Reason: reasonDuplicate, ObservedGeneration: member.Generation}
	if p.twin != nil {
		served := "which is not served"
		if elder(p.twin, p.member) {
			served = "which is served"
		}
		duplicate.Message = fmt.Sprintf("MemberCluster %s/%s, %s, is the same cluster: delete one of the two", p.twin.Namespace, p.twin.Name, served)
	}
	hub.SetOnlyWhileTrue(&member.Status.Conditions, p.twin != nil, duplicate)
	barred := metav1.Condition{Type: v1alpha1.ConditionBarred, ObservedGeneration: member.Generation}
	if p.barred != nil {
		barred.Reason, barred.Message = p.barred.Reason, p.barred.Detail
	}
	hub.SetOnlyWhileTrue(&member.Status.Conditions, p.barred != nil, barred)
}
