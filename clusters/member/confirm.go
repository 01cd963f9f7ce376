package member

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// absent is the name of an object that nobody makes.
const absent = "absent.syncline.dev"

const wentBackText = "The member's API server has gone back to an earlier state, as after a restore from a backup"

// confirm makes sure, before a watch is resumed at a version, that the member still knows of
// that version. A server that was restored from a backup would grant the watch and keep
// silent, bookmarks included, until it has counted up to there, and we would take what was
// for what is. If the member went back, the watch begins anew and ctx is done.
//
// A server that is asked for an object as of a version, be it one that does not exist,
// waits for that version and says so if it does not come. That costs it nothing. Only if it
// says so is it asked what its version is, by a list of one: it may be one of several, and
// merely late.
func (k *kindWatch) confirm(ctx context.Context, at resource, version string) error {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	objects := k.client.Resource(at.GroupVersionResource)
	var one dynamic.ResourceInterface = objects
	if at.namespaced {
		one = objects.Namespace(metav1.NamespaceDefault)
	}
	_, err := one.Get(ctx, absent, metav1.GetOptions{ResourceVersion: version})
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return nil
	case !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) && !apierrors.IsForbidden(err):
		return err
	}
	list, err := objects.List(ctx, metav1.ListOptions{LabelSelector: k.selector, Limit: 1})
	if err != nil {
		return err
	}
	if older(list.GetResourceVersion(), version) {
		k.log.Info(wentBackText, "kind", k.gvk, "version", list.GetResourceVersion(), "seen", version)
		k.beginAnew(wentBackText)
	}
	return nil
}

// violated counts a broken rule, says so once, and begins the watch anew.
func (k *kindWatch) violated(broken rule, version string) {
	continuityViolations.WithLabelValues(k.gvk.GroupKind().String(), string(broken)).Inc()
	if !k.broken[broken] {
		k.broken[broken] = true
		k.log.Info("A watch contradicts what it delivered before, and begins anew", "kind", k.gvk, "rule", broken, "version", version)
	}
	k.beginAnew("what the member's watch delivers contradicts what it delivered before (" + string(broken) + ")")
}

// beginAnew forgets what was seen and ends the Reflector; run starts another. It is called
// on the Reflector's goroutines.
func (k *kindWatch) beginAnew(why string) {
	k.doubts.Add(1)
	k.store.begunAnew(k.gvk.GroupKind(), &WatchError{Failure{Transient, ReasonServerError, why}})
	k.restart()
	k.changed(k.gvk.GroupKind())
}
