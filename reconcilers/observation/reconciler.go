package observation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

const (
	// attentive is the pause between observations while an assertion does not hold or is new,
	// relaxed while it holds. What they must not exceed is half of its maxAge.
	attentive = 10 * time.Second
	relaxed   = time.Minute
	// jitter is the part of a pause by which it may be shorter.
	jitter = 0.2
	// timeout bounds the observation of one member.
	timeout = 20 * time.Second
	// maxObjects is of how many objects a value can be.
	maxObjects = 500
	// maxError is the API's limit in bytes.
	maxError = 512
)

// Ownership says which members this replica owns. *shard.Replica is one.
type Ownership interface {
	// Owns reports whether this replica owns a member now, and under which tenure.
	Owns(key types.NamespacedName) (shard.Ownership, bool)
}

// Members finds connected members. *member.Provider is one.
type Members interface {
	// Member is the connected member of a name.
	Member(key types.NamespacedName) (*member.Member, bool)
}

// Reconciler observes members.
type Reconciler struct {
	// Client reads MemberClusters and StateAssertions from the cache.
	Client client.Client
	// Ownership and Members are those of this replica, and Identity is its name.
	Ownership Ownership
	Members   Members
	Identity  string
	// States compiles assertions.
	States *assertion.Cache
	// Clock gives observations their time.
	Clock clock.PassiveClock
}

// Reconcile observes one member for all assertions that select it.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cluster := &v1alpha1.MemberCluster{}
	if err := r.Client.Get(ctx, req.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.owns(cluster) {
		return reconcile.Result{}, nil
	}
	asked, err := r.asked(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	seen := r.observe(ctx, cluster, asked)
	after := cluster.DeepCopy()
	after.Status.Observations = keep(cluster.Status.Observations, seen, r.Clock.Now())
	if !r.owns(cluster) {
		return reconcile.Result{}, nil
	}
	if _, err := hub.PatchStatus(ctx, r.Client, cluster, after); err != nil {
		return hub.Outcome(err)
	}
	return reconcile.Result{RequeueAfter: pause(asked)}, nil
}

// owns says whether this replica owns the member, and the hub has been told so. Another owner
// says that in the same status, so that a write of ours which rests on this one then fails.
func (r *Reconciler) owns(cluster *v1alpha1.MemberCluster) bool {
	now, owned := r.Ownership.Owns(client.ObjectKeyFromObject(cluster))
	told := cluster.Status.Owner
	return owned && told != nil && told.Replica == r.Identity && told.Epoch == int64(now.Epoch)
}

// question is an assertion that asks for observations of a member.
type question struct {
	*v1alpha1.StateAssertion
	state *assertion.State
}

// pause is the time between two observations for the question.
func (q question) pause() time.Duration {
	pause := attentive
	if q.Status.Holds == metav1.ConditionTrue && q.Status.ObservedGeneration == q.Generation {
		pause = relaxed
	}
	return min(pause, q.state.MaxAge/2)
}

// pause is the time until the next observation of a member; 0 if nobody asks for one.
func pause(asked []question) time.Duration {
	if len(asked) == 0 {
		return 0
	}
	shortest := slices.MinFunc(asked, func(a, b question) int { return cmp.Compare(a.pause(), b.pause()) }).pause()
	return wait.Jitter(time.Duration(float64(shortest)*(1-jitter)), jitter)
}

// asked are the assertions that select the member and can be read, in the order of their
// names, and no more than there is room for.
func (r *Reconciler) asked(ctx context.Context, cluster *v1alpha1.MemberCluster) ([]question, error) {
	var assertions v1alpha1.StateAssertionList
	if err := r.Client.List(ctx, &assertions, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, fmt.Errorf("list StateAssertions: %w", err)
	}
	var asked []question
	for i := range assertions.Items {
		a := &assertions.Items[i]
		state, problems := r.States.State(a)
		if len(problems) == 0 && a.DeletionTimestamp.IsZero() && state.Selects(cluster) {
			asked = append(asked, question{a, state})
		}
	}
	slices.SortFunc(asked, func(a, b question) int { return cmp.Compare(a.Name, b.Name) })
	return asked[:min(len(asked), v1alpha1.MaxObservations)], nil
}

// sighting is what a question finds: a new observation, which is of no use without a time, and
// for how long an old one of the same values will do.
type sighting struct {
	v1alpha1.MemberObservation
	lasts time.Duration
}

// observe answers all questions. A member that is away is not asked.
func (r *Reconciler) observe(ctx context.Context, cluster *v1alpha1.MemberCluster, asked []question) []sighting {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	connected, ok := r.Members.Member(client.ObjectKeyFromObject(cluster))
	away := !ok || !connected.Reachability().Reachable
	seen := make([]sighting, len(asked))
	for i, q := range asked {
		seen[i].Assertion, seen[i].UID, seen[i].Generation = q.Name, q.UID, q.Generation
		seen[i].lasts = q.state.MaxAge/2 - q.pause()
		if away {
			continue
		}
		// Before the first list: what was seen is at least as new as it says.
		at := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
		if values, err := takeAll(ctx, connected, cluster, q.state.Values); err == nil {
			seen[i].At, seen[i].Values = at, values
		}
	}
	return seen
}

// lister reads objects of a member.
type lister interface {
	List(ctx context.Context, selected v1alpha1.ObservedObjects, limit int) (*unstructured.UnstructuredList, error)
}

// takeAll observes the values of one assertion. The error is one that passes by itself.
func takeAll(ctx context.Context, from lister, cluster *v1alpha1.MemberCluster, values []assertion.Value) ([]v1alpha1.ValueObservation, error) {
	all := make([]v1alpha1.ValueObservation, len(values))
	for i, value := range values {
		var err error
		if all[i], err = take(ctx, from, cluster, value); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// take observes one value. What keeps it from that until somebody changes something is part of
// the observation.
func take(ctx context.Context, from lister, cluster *v1alpha1.MemberCluster, value assertion.Value) (v1alpha1.ValueObservation, error) {
	taken := v1alpha1.ValueObservation{Name: value.Name}
	list, err := from.List(ctx, value.Observe, maxObjects)
	switch failure := member.Classify(err); {
	case err != nil && failure.Class == member.Terminal:
		taken.Error = convergence.Shorten(failure.Message, maxError)
		return taken, nil
	case err != nil:
		return taken, err
	}
	taken.ResourceVersion = list.GetResourceVersion()
	objects := make([]map[string]any, len(list.Items))
	for i := range list.Items {
		objects[i] = list.Items[i].Object
	}
	raw, err := value.Of(objects, source.Facts{
		Name: cluster.Name, Namespace: cluster.Namespace, Labels: cluster.Labels, Version: cluster.Status.Version,
	})
	if err != nil {
		taken.Error = convergence.Shorten(err.Error(), maxError)
	} else if raw != nil {
		taken.Value = &apiextensionsv1.JSON{Raw: raw}
	}
	return taken, nil
}

// keep are the observations to be stored: all that are new, if one of them says something
// new or an old one will not do until the next, and otherwise the old ones. Where nothing could
// be seen the old one stays in any case, and grows old. Those for which nobody asks any more
// go.
func keep(old []v1alpha1.MemberObservation, seen []sighting, now time.Time) []v1alpha1.MemberObservation {
	var stays, renewed []v1alpha1.MemberObservation
	isNews := false
	for _, s := range seen {
		i := slices.IndexFunc(old, func(o v1alpha1.MemberObservation) bool { return o.UID == s.UID })
		if i >= 0 {
			stays = append(stays, old[i])
		}
		switch {
		case !s.At.IsZero():
			renewed = append(renewed, s.MemberObservation)
			isNews = isNews || i < 0 || s.differs(old[i]) || now.Sub(old[i].At.Time) > s.lasts
		case i >= 0:
			renewed = append(renewed, old[i])
		}
	}
	if isNews {
		return renewed
	}
	return stays
}

// differs says whether the sighting says something else than an observation, at whatever
// version of the member.
func (s sighting) differs(o v1alpha1.MemberObservation) bool {
	return s.Generation != o.Generation || !slices.EqualFunc(s.Values, o.Values, func(a, b v1alpha1.ValueObservation) bool {
		return a.Name == b.Name && a.Error == b.Error && equality.Semantic.DeepEqual(decoded(a.Value), decoded(b.Value))
	})
}

// decoded is what JSON means, however the hub writes it.
func decoded(value *apiextensionsv1.JSON) (meaning any) {
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value.Raw, &meaning); err != nil {
		return string(value.Raw)
	}
	return meaning
}
