package fleet

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// Follow tells of all objects of a resource, and then of every change to them. It returns nil
// when ctx is done, and an error when it cannot see everything any more, or when see returns
// one.
func Follow(ctx context.Context, resource dynamic.ResourceInterface, see func(watch.EventType, *unstructured.Unstructured) error) error {
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := see(watch.Added, &list.Items[i]); err != nil {
			return err
		}
	}
	// It resumes where it was when a connection breaks, so that no change is missed.
	stream, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: resource.Watch})
	if err != nil {
		return err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return apierrors.FromObject(event.Object)
		}
		if err := see(event.Type, object); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return errors.New("the watch has ended")
}
