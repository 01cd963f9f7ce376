package member

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/federation/criteria"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// Members finds the members that this replica is connected to.
type Members interface {
	// Member is the connected member; false if this replica is not connected to it.
	Member(key types.NamespacedName) (*member.Member, bool)
}

// Ownership says which members this replica owns. *shard.Replica is one.
type Ownership interface {
	// Owns is this replica's hold of a member now; false if it has none.
	Owns(key types.NamespacedName) (shard.Ownership, bool)
	// Surpass asks for another tenure of a shard, in an epoch beyond one that was seen on the
	// hub. Whoever hears of changes of ownership hears of it.
	Surpass(shard, epoch int)
}

// Reconciler serves the members that this replica owns, each as a whole.
type Reconciler struct {
	// Client reads our kinds from the cache.
	Client client.Client
	// Revisions reads what layers say.
	Revisions *revision.Store
	// Members finds connections.
	Members Members
	// Ownership says whose the members are.
	Ownership Ownership
	// Folds shares folds between members.
	Folds *layer.Cache
	// Criteria shares between members what layers ask of them.
	Criteria *criteria.Cache
	// Events tells people, on the bindings and layers that they look at.
	Events events.EventRecorder
	// HubID marks our objects on members, and is the UID of the hub's kube-system namespace;
	// Identity is this replica's name, SystemNamespace where it runs.
	HubID, Identity, SystemNamespace string
	// Clock gives the time of verdicts.
	Clock clock.PassiveClock
	// AllowDuplicates serves a cluster that is registered more than once under each name.
	AllowDuplicates bool
	// OrphanAfter is how long a deleted layer waits for a member that cannot be reached.
	OrphanAfter time.Duration

	ledger *ledger
}

// Reconcile serves the member that the request names, if it is ours.
func (r *Reconciler) Reconcile(ctx context.Context, req mcreconcile.Request) (reconcile.Result, error) {
	key, err := keyOf(req.ClusterName)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	owner, owned := r.Ownership.Owns(key)
	if !owned {
		defer r.ledger.close(key) // of no use to anybody, and old if the member is ours again
		return reconcile.Result{}, r.prepare(ctx, key)
	}
	result, err := r.pass(member.WithEpoch(ctx, owner.Epoch), key, owner)
	if errors.Is(err, member.ErrNotOwner) {
		return reconcile.Result{}, nil // the rest is the next owner's; if that is us, we shall be called
	}
	return result, err
}

// prepare does for a member that is about to be ours what the first pass would wait for: its
// stack is folded, and its objects are watched. What preconditions ask of it the first pass reads;
// until then they are undecided, and what is listed is watched whatever they say.
func (r *Reconciler) prepare(ctx context.Context, key types.NamespacedName) error {
	connection := r.connect(key)
	if !connection.usable() {
		return nil
	}
	snap, err := r.look(ctx, key, shard.Ownership{}, &inquiry{known: &facts{}})
	if err != nil || snap.member == nil {
		return err
	}
	bindings := slices.DeleteFunc(snap.bindings(), func(b *v1alpha1.LayerBinding) bool { return b == nil }) // not made yet
	lists, err := listsOf(bindings...)
	if err != nil {
		return reconcile.TerminalError(err)
	}
	desired := r.fold(ctx, snap, connection)
	connection.member.Observe(kindsOf(desired, lists.join(bindings, connection.reach.UID))...)
	return nil
}

// pass serves a member for as long as this replica owns it.
func (r *Reconciler) pass(ctx context.Context, key types.NamespacedName, owner shard.Ownership) (reconcile.Result, error) {
	now := r.Clock.Now()
	connection, pages := r.connect(key), r.ledger.of(key)
	ask := &inquiry{connection: connection, known: &pages.facts, now: now}
	snap, err := r.look(ctx, key, owner, ask)
	if err != nil {
		return reconcile.Result{}, err
	}
	if epoch := r.laterEpoch(snap); epoch > 0 {
		r.Ownership.Surpass(owner.Shard, epoch)
		return reconcile.Result{}, nil
	}
	if snap.member == nil {
		return hub.Outcome(r.release(ctx, snap))
	}
	pass := &pass{snapshot: snap, connection: connection, pages: pages, now: now}
	pass.wakeAt(ask.due)
	if pass.introduces() {
		r.ledger.close(key)                               // what it holds is about another cluster
		return hub.Outcome(r.recordMember(ctx, pass, "")) // the hub's watch will call again
	}
	if err := r.bind(ctx, snap); err != nil {
		return hub.Outcome(err)
	}
	pass.desired = r.fold(ctx, snap, pass.connection)
	if err := r.serve(ctx, pass); err != nil {
		return hub.Outcome(err)
	}
	if pass.settling() {
		return reconcile.Result{}, nil // the member's watches will call again
	}
	if pass.report.disowned() {
		return reconcile.Result{}, pass.report.lost
	}
	if err := r.record(ctx, pass); err != nil {
		return hub.Outcome(err)
	}
	if pass.report.stopped() || pass.report.cleared && pass.removalsWait() {
		return reconcile.Result{RequeueAfter: heldRetry}, nil
	}
	if retry := pass.pages.nextRetry(now); retry > 0 {
		pass.wakeIn(retry)
	}
	return reconcile.Result{RequeueAfter: pass.wake}, nil
}

// heldRetry is when a pass is made again that was held up by what no watch will tell of: the
// guard against the snapshot's word, or objects that turned out to be gone already.
const heldRetry = time.Second

// pass is one service of one member, from the snapshot to the record.
type pass struct {
	*snapshot
	connection connection
	desired    *desired
	pages      *pages
	now        time.Time
	// plan and report are the last of the pass.
	plan   plan
	report report
	// before is what the bindings listed before the pass.
	before lists
	// twin is another MemberCluster that is the same cluster; nil if there is none.
	twin *v1alpha1.MemberCluster
	// hubNamespaces are those in which the hub lives, if the member is the hub.
	hubNamespaces map[string]bool
	// barred is why the member is not written to although it answers; nil if it may be.
	barred *object.Problem
	// orphans names what the pass has left on a member that is out of reach.
	orphans []string
	// wake is when the pass is to be made again at the latest; 0 for never.
	wake time.Duration
}

// wakeIn has the pass made again after a time.
func (p *pass) wakeIn(d time.Duration) {
	if p.wake == 0 || d < p.wake {
		p.wake = max(d, time.Millisecond)
	}
}

// wakeAt is wakeIn for a time; zero is never.
func (p *pass) wakeAt(at time.Time) {
	if !at.IsZero() {
		p.wakeIn(at.Sub(p.now))
	}
}

// connection is how far the member can be reached.
type connection struct {
	member *member.Member // nil without a connection
	reach  member.Reachability
}

func (c connection) usable() bool { return c.member != nil && c.reach.Reachable }

func (r *Reconciler) connect(key types.NamespacedName) connection {
	m, ok := r.Members.Member(key)
	if !ok {
		return connection{}
	}
	return connection{member: m, reach: m.Reachability()}
}

// serve brings the member closer to what its layers want: plan, apply, and plan again
// where a namespace or a kind came into place on which others waited.
func (r *Reconciler) serve(ctx context.Context, p *pass) error {
	var err error
	if p.before, err = listsOf(p.bindings()...); err != nil {
		return reconcile.TerminalError(err)
	}
	if err := r.identify(ctx, p); err != nil {
		return err
	}
	held := p.before.join(p.bindings(), p.connection.reach.UID)
	p.report = newReport(held)
	p.pages.forget(p.desired.objects, held, p.now)
	planner := &planner{inventory: held, live: unseen{}, pages: p.pages, now: p.now, keepings: p.keepings(), hubNamespaces: p.hubNamespaces}
	if p.connection.member != nil {
		planner.live = p.connection.member
		p.connection.member.Observe(kindsOf(p.desired, held)...)
		p.connection.member.ObserveClosely(p.judgedKinds(planner.keepings))
	}
	p.plan = planner.plan(p.desired)
	if !p.connection.usable() || p.paused != "" || p.barred != nil {
		return nil
	}
	if err := r.declare(ctx, p); err != nil {
		return err
	}
	executor := &executor{member: p.connection.member, hub: r.HubID, pages: p.pages, now: p.now}
	executor.bring(ctx, p.plan.steps, &p.report)
	if p.report.foundations {
		planner.inventory = held.with(p.report.entries)
		p.plan = planner.plan(p.desired)
		executor.bring(ctx, p.plan.steps, &p.report)
	}
	executor.remove(ctx, p.plan.removals, &p.report)
	clear(p.pages.again)
	r.logOutcome(ctx, p)
	return nil
}

// kindsOf are the kinds to watch: those that are wanted and those that are listed.
func kindsOf(want *desired, listed inventory) []schema.GroupVersionKind {
	kinds := map[schema.GroupKind]schema.GroupVersionKind{}
	for id, held := range listed {
		kinds[id.GroupKind()] = id.GroupKind().WithVersion(held.entry.Version)
	}
	for _, w := range want.objects {
		if w.GVK.Version != "" {
			kinds[w.ID.GroupKind()] = w.GVK
		}
	}
	return slices.Collect(maps.Values(kinds))
}

// settling says that a replica that has just taken the member over does not see it yet, and
// has done nothing to it: what the former owner last said stands until we know better. It
// ends with the first answer of the member, or with the probes that miss it.
func (p *pass) settling() bool {
	m := p.connection.member
	if m == nil {
		return registered(p.snapshot.member)
	}
	if p.connection.reach.Since.IsZero() {
		return true
	}
	if !p.connection.usable() || p.report.sent+p.report.refused > 0 {
		return false
	}
	return slices.ContainsFunc(p.plan.steps, func(s step) bool {
		return s.unseen && m.WatchProblem(s.object.ID.GroupKind()) == nil
	})
}

// removalsWait says whether something is to go after others.
func (p *pass) removalsWait() bool {
	return slices.ContainsFunc(p.plan.removals, func(r removal) bool { return r.verb == wait })
}

// logOutcome says in one line what a pass did, and nothing if it did nothing.
func (r *Reconciler) logOutcome(ctx context.Context, p *pass) {
	sent, refused := p.report.sent, p.report.refused
	if sent+refused == 0 && !p.report.stopped() {
		return
	}
	logger := log.FromContext(ctx).WithValues("member", p.key.String(), "sent", sent)
	switch {
	case p.report.stopped():
		logger.Info("writing stopped", "cause", p.report.lost.Error())
	case refused > 0:
		logger.Info("member served in part", "refused", refused)
	default:
		logger.Info("member served")
	}
}
