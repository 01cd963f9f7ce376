package placement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// defaultHistory is how many unused revisions are kept where the layer does not say.
const defaultHistory = 10

// collectAfter is how long after a new revision old ones are collected: members come first.
const collectAfter = 5 * time.Second

// Reconciler keeps the newest revision of layers of one kind.
type Reconciler struct {
	// Client reads layers and bindings from the cache; ConfigMaps and Secrets from the hub.
	Client client.Client
	// Revisions keeps what layers say.
	Revisions *revision.Store
	// Kind is the kind of layer served.
	Kind string
	// SystemNamespace is where ClusterLayers' manifestsFrom is read.
	SystemNamespace string
	// Clock gives the time of people's choices.
	Clock clock.PassiveClock
}

// Reconcile serves one layer.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	layer := hub.New(r.Kind)
	if err := r.Client.Get(ctx, req.NamespacedName, layer); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !layer.GetDeletionTimestamp().IsZero() {
		return hub.Outcome(r.release(ctx, layer))
	}
	if err := r.hold(ctx, layer); err != nil {
		return hub.Outcome(err)
	}
	content, unusable, err := r.gather(ctx, layer)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := layer.DeepCopyObject().(v1alpha1.Layered)
	if unusable != nil {
		refuse(layer, unusable)
	} else if err := r.render(ctx, layer, content); err != nil {
		return reconcile.Result{}, err
	}
	unknown, err := r.unknownReturn(ctx, layer)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case unknown != nil:
		refuse(layer, unknown)
	default:
		recordChoices(layer, metav1.NewTime(r.Clock.Now()))
	}
	if _, err := hub.PatchStatus(ctx, r.Client, before, layer); err != nil {
		return hub.Outcome(err)
	}
	if before.LayerStatus().Revision == layer.LayerStatus().Revision {
		return reconcile.Result{}, r.collect(ctx, layer)
	}
	log.FromContext(ctx).Info("new revision", "revision", layer.LayerStatus().Revision)
	return reconcile.Result{RequeueAfter: collectAfter}, nil
}

// gather reads what the layer says. What only a person can mend is unusable, and no error.
func (r *Reconciler) gather(ctx context.Context, layer v1alpha1.Layered) (revision.Content, *revision.UnusableError, error) {
	if unusable := cmp.Or(droppedNulls(layer), unaskable(layer)); unusable != nil {
		return revision.Content{}, unusable, nil
	}
	content, err := revision.Gather(ctx, layer, r.SystemNamespace, r.data)
	var unusable *revision.UnusableError
	if errors.As(err, &unusable) {
		return content, unusable, nil
	}
	return content, nil, err
}

// hold puts the finalizer on before the first member is served.
func (r *Reconciler) hold(ctx context.Context, layer v1alpha1.Layered) error {
	before := layer.DeepCopyObject().(v1alpha1.Layered)
	if !controllerutil.AddFinalizer(layer, v1alpha1.Finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, layer, patch); err != nil {
		return fmt.Errorf("hold %s: %w", hub.Describe(layer), err)
	}
	return nil
}

// release lets a deleted layer go once no binding is left of it.
func (r *Reconciler) release(ctx context.Context, layer v1alpha1.Layered) error {
	if !controllerutil.ContainsFinalizer(layer, v1alpha1.Finalizer) {
		return nil
	}
	bindings, err := hub.BindingsOfLayer(ctx, r.Client, layer)
	if err != nil || len(bindings) > 0 {
		return err
	}
	before := layer.DeepCopyObject().(v1alpha1.Layered)
	controllerutil.RemoveFinalizer(layer, v1alpha1.Finalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.Client.Patch(ctx, layer, patch))
}

// render makes the content the layer's newest revision, if it is not yet, and says on the
// layer which of its objects are refused whatever the member.
func (r *Reconciler) render(ctx context.Context, layer v1alpha1.Layered, content revision.Content) error {
	status := layer.LayerStatus()
	name, err := revision.Name(layer, content)
	if err != nil {
		return err
	}
	if status.Revision != name {
		err := r.Revisions.Save(ctx, layer, name, status.RevisionNumber+1, content)
		if unusable := tooLarge(err); unusable != nil {
			refuse(layer, unusable)
			return nil
		}
		if err != nil {
			return err
		}
		status.Revision = name
		status.RevisionNumber++
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionConverged, Status: metav1.ConditionFalse, Reason: "NewRevision",
			Message: "revision " + name + " is on its way to the members", ObservedGeneration: layer.GetGeneration(),
		})
	}
	accept(layer, cmp.Or(unreadableSelector(layer), refusals(content.Whole())))
	return nil
}

// collect drops old revisions: never the newest, never one that a binding names.
func (r *Reconciler) collect(ctx context.Context, layer v1alpha1.Layered) error {
	bindings, err := hub.BindingsOfLayer(ctx, r.Client, layer)
	if err != nil {
		return err
	}
	status := layer.LayerStatus()
	inUse := map[string]bool{status.Revision: true}
	if status.Approved != nil {
		inUse[status.Approved.Revision] = true
	}
	if status.RolledBack != nil {
		inUse[status.RolledBack.Revision] = true
	}
	for _, binding := range bindings {
		inUse[binding.Status.Revision], inUse[binding.Status.GoodRevision] = true, true
		if wait := binding.Status.Wait; wait != nil {
			inUse[wait.Revision] = true
		}
	}
	limit := int(ptr.Deref(layer.LayerSpec().RevisionHistoryLimit, defaultHistory))
	return r.Revisions.Collect(ctx, layer, limit, func(name string) bool { return inUse[name] })
}

// accept records that the newest generation is a revision. The layer is not converged
// until its members are, which aggregation says.
func accept(layer v1alpha1.Layered, refused *revision.UnusableError) {
	rendered := metav1.Condition{
		Type: v1alpha1.ConditionRendered, Status: metav1.ConditionTrue, Reason: "RevisionStored",
		Message: "revision " + layer.LayerStatus().Revision,
	}
	if refused != nil {
		rendered.Status, rendered.Reason, rendered.Message = metav1.ConditionFalse, refused.Reason, refused.Message
	}
	record(layer, rendered)
}

// refuse records that the newest generation cannot be used: members keep the revision
// that they have.
func refuse(layer v1alpha1.Layered, why *revision.UnusableError) {
	record(layer, metav1.Condition{
		Type: v1alpha1.ConditionRendered, Status: metav1.ConditionFalse, Reason: why.Reason, Message: why.Message,
	})
}

func record(layer v1alpha1.Layered, rendered metav1.Condition) {
	status := layer.LayerStatus()
	status.ObservedGeneration = layer.GetGeneration()
	rendered.ObservedGeneration = layer.GetGeneration()
	meta.SetStatusCondition(&status.Conditions, rendered)
}
