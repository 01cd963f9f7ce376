package hub

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// PatchStatus writes the status of after where it differs in meaning from that of before,
// and reports whether it did. The write fails with a conflict where the hub holds another
// version than before: a status is never computed from one version and written on another.
func PatchStatus(ctx context.Context, c client.Client, before, after client.Object) (bool, error) {
	if equality.Semantic.DeepEqual(statusOf(before), statusOf(after)) {
		return false, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, after, patch); err != nil {
		return false, fmt.Errorf("write status of %T %s: %w", after, client.ObjectKeyFromObject(after), err)
	}
	return true, nil
}

func statusOf(o client.Object) any {
	return reflect.ValueOf(o).Elem().FieldByName("Status").Interface()
}

// SetOnlyWhileTrue keeps a condition whose presence is its message: it is set while true,
// and otherwise removed (kstatus' Reconciling and Stalled).
func SetOnlyWhileTrue(conditions *[]metav1.Condition, isTrue bool, condition metav1.Condition) {
	if !isTrue {
		meta.RemoveStatusCondition(conditions, condition.Type)
		return
	}
	condition.Status = metav1.ConditionTrue
	meta.SetStatusCondition(conditions, condition)
}

// soon is when a pass is made again that found the cache behind.
const soon = 50 * time.Millisecond

// RateLimiter paces passes that fail: at first at once, and never more rarely than a person
// who has mended something would wait.
func RateLimiter[request comparable]() workqueue.TypedRateLimiter[request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[request](5*time.Millisecond, 30*time.Second)
}

// UsePriorityQueue is for the options of every controller: no. When controller-runtime's
// priority queue (v0.24.1) is shut down while its workers wait, it can hand an item to a
// worker that has left, under its lock, and the controller never ends.
func UsePriorityQueue() *bool { return ptr.To(false) }

// Outcome is the result of a pass that ended with err. A conflict is no failure: the cache
// was behind, and the pass is made again when it will have caught up. Nor is an object that
// has gone in the meantime.
func Outcome(err error) (reconcile.Result, error) {
	err = client.IgnoreNotFound(err)
	if apierrors.IsConflict(err) {
		return Behind(), nil
	}
	return reconcile.Result{}, err
}

// Behind is the result of a pass that found the cache behind: it is made again soon, and not at
// the same time as others that found the same.
func Behind() reconcile.Result { return reconcile.Result{RequeueAfter: wait.Jitter(soon, 1)} }
