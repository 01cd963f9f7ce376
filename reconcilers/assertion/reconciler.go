package assertion

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// lookAgain is after how long an assertion is judged again although nothing has changed: what
// it says of ages does.
const lookAgain = 30 * time.Second

// Revisions knows the revisions that are kept of a layer. *revision.Store is one.
type Revisions interface {
	// History names them, the newest first.
	History(ctx context.Context, layer v1alpha1.Layered) ([]string, error)
}

// Reconciler judges StateAssertions.
type Reconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Revisions knows what a layer can be rolled back to.
	Revisions Revisions
	// States compiles assertions.
	States *assertion.Cache
	// Events tells people of fallbacks.
	Events events.EventRecorder
	// Clock says how old observations are, and when a fallback is due.
	Clock clock.PassiveClock
}

// Reconcile judges one assertion.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	a := &v1alpha1.StateAssertion{}
	err := r.Client.Get(ctx, req.NamespacedName, a)
	if apierrors.IsNotFound(err) || err == nil && !a.DeletionTimestamp.IsZero() {
		return hub.Outcome(r.release(ctx, req.NamespacedName, nil))
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	p := &pass{assertion: a, key: req.NamespacedName, now: metav1.NewTime(r.Clock.Now()).Rfc3339Copy()}
	if err := r.read(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	p.judge()
	if err := r.fallBack(ctx, p); err != nil {
		return hub.Outcome(err)
	}
	if err := r.record(ctx, p); err != nil {
		return hub.Outcome(err)
	}
	return reconcile.Result{RequeueAfter: p.next()}, nil
}

// pass is one look at one assertion.
type pass struct {
	assertion *v1alpha1.StateAssertion
	key       types.NamespacedName
	now       metav1.Time

	// state is nil where the assertion cannot be read; problems then say why.
	state    *assertion.State
	problems []object.Problem
	// members are the cache's own: nobody may change them.
	members []*v1alpha1.MemberCluster
	// layers are those that the fallback names, in its order, and missing those of them that
	// do not exist.
	layers  []v1alpha1.Layered
	missing []string

	verdict assertion.Verdict
	status  v1alpha1.StateAssertionStatus
	// done says what was done to layers, and trouble what could not be.
	done, trouble []string
}

// read gathers what the assertion is judged by.
func (r *Reconciler) read(ctx context.Context, p *pass) error {
	p.state, p.problems = r.States.State(p.assertion)
	var members v1alpha1.MemberClusterList
	if err := r.Client.List(ctx, &members, client.InNamespace(p.key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	for i := range members.Items {
		p.members = append(p.members, &members.Items[i])
	}
	for _, ref := range p.assertion.Spec.Fallback.Layers {
		layer, err := hub.Get(ctx, r.Client, ref, p.key.Namespace)
		switch {
		case apierrors.IsNotFound(err):
			p.missing = append(p.missing, ref.Kind+" "+ref.Name)
		case err != nil:
			return fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
		default:
			p.layers = append(p.layers, layer)
		}
	}
	return nil
}

// judge decides how the assertion stands. One that cannot be judged is Unknown, and its time
// stands still: that is a person's to mend.
func (p *pass) judge() {
	if p.state == nil {
		p.verdict = assertion.Verdict{Answer: expression.Unknown, Message: p.problems[0].Message()}
	} else {
		p.verdict = p.state.Judge(p.members, p.now.Time)
	}
	if !p.judged() {
		p.status = assertion.Suspend(p.assertion.Status, p.verdict, p.now)
		return
	}
	newest := ""
	if p.assertion.Spec.Fallback.Action == v1alpha1.AssertionRollback && len(p.layers) > 0 {
		newest = p.layers[0].LayerStatus().Revision
	}
	p.status = p.state.Advance(p.assertion, p.verdict, newest, p.now)
}

// judged says whether the answer is one about members.
func (p *pass) judged() bool { return p.state != nil && p.verdict.Members > 0 }

// next is when to look again without being told of a change.
func (p *pass) next() time.Duration {
	if p.state == nil {
		return 0
	}
	next := lookAgain
	for _, at := range []time.Time{p.verdict.Expires, p.state.Due(p.assertion.Spec.Fallback, p.status)} {
		if !at.IsZero() {
			next = min(next, max(at.Sub(p.now.Time), time.Second))
		}
	}
	return next
}
