package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// mendDeadline bounds how long a drift may stay.
	mendDeadline = 30 * time.Second
	// mendInterval is how precisely the time is taken.
	mendInterval = 2 * time.Millisecond
)

// showDrift changes what Syncline keeps on a member, as somebody in a hurry would, and
// waits until it is as the layers want it.
func (d *demo) showDrift(ctx context.Context) error {
	cluster := d.fleet.Members()[0]
	member, err := cluster.Client(nil)
	if err != nil {
		return err
	}
	d.step("Changing behind Syncline's back what it keeps on %s", cluster.Name())
	at := metav1.ObjectMeta{Namespace: "shop", Name: "web"}
	if err := d.deleteAndWait(ctx, member, &corev1.ConfigMap{ObjectMeta: at}); err != nil {
		return err
	}
	begin := time.Now()
	deployment := &appsv1.Deployment{ObjectMeta: at}
	if err := d.changeImageAndWait(ctx, member, deployment); err != nil {
		return err
	}
	if err := d.awaitRollout(ctx, member, deployment); err != nil {
		return err
	}
	if _, err := d.awaitConvergence(ctx, false); err != nil {
		return err
	}
	d.detail("all has been rolled out and has converged again after %s", took(time.Since(begin)))
	return nil
}

// awaitRollout waits until the member itself has done all that the Deployment asks for.
// Before that the hub might still speak of the time before the drift.
func (d *demo) awaitRollout(ctx context.Context, member client.Client, deployment *appsv1.Deployment) error {
	return d.await(ctx, "the Deployment should be rolled out again", func(ctx context.Context) ([]string, error) {
		if err := member.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return nil, err
		}
		status, replicas := deployment.Status, *deployment.Spec.Replicas
		if status.ObservedGeneration < deployment.Generation || status.Replicas != replicas ||
			status.UpdatedReplicas != replicas || status.AvailableReplicas != replicas {
			return []string{fmt.Sprintf("%d of %d replicas are up to date, %d are available", status.UpdatedReplicas, replicas, status.AvailableReplicas)}, nil
		}
		return nil, nil
	})
}

func (d *demo) deleteAndWait(ctx context.Context, member client.Client, config *corev1.ConfigMap) error {
	key := client.ObjectKeyFromObject(config)
	if err := member.Get(ctx, key, config); err != nil {
		return fmt.Errorf("ConfigMap %s: %w", key, err)
	}
	old := config.UID
	if err := member.Delete(ctx, config); err != nil {
		return fmt.Errorf("delete ConfigMap %s: %w", key, err)
	}
	mended, err := mend(ctx, func(ctx context.Context) (bool, error) {
		err := member.Get(ctx, key, config)
		return err == nil && config.UID != old, client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("ConfigMap %s was deleted and is not back: %w", key, err)
	}
	d.detail("ConfigMap %s: deleted, and back after %s", key, took(mended))
	return nil
}

func (d *demo) changeImageAndWait(ctx context.Context, member client.Client, deployment *appsv1.Deployment) error {
	const foreign = "registry.example.com/shop/web:hotfix"
	key := client.ObjectKeyFromObject(deployment)
	if err := member.Get(ctx, key, deployment); err != nil {
		return fmt.Errorf("Deployment %s: %w", key, err)
	}
	wanted := deployment.Spec.Template.Spec.Containers[0].Image
	change := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":%q}]}}}}`,
		deployment.Spec.Template.Spec.Containers[0].Name, foreign)
	if err := member.Patch(ctx, deployment, client.RawPatch(types.StrategicMergePatchType, []byte(change))); err != nil {
		return fmt.Errorf("change Deployment %s: %w", key, err)
	}
	mended, err := mend(ctx, func(ctx context.Context) (bool, error) {
		err := member.Get(ctx, key, deployment)
		return err == nil && deployment.Spec.Template.Spec.Containers[0].Image == wanted, err
	})
	if err != nil {
		return fmt.Errorf("the image of Deployment %s was changed and is not mended: %w", key, err)
	}
	d.detail("Deployment %s: image changed to %s, and mended after %s", key, foreign, took(mended))
	return nil
}

// mend measures how long something takes to become true.
func mend(ctx context.Context, done func(context.Context) (bool, error)) (time.Duration, error) {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, mendDeadline)
	defer cancel()
	ticker := time.NewTicker(mendInterval)
	defer ticker.Stop()
	for {
		ok, err := done(ctx)
		if err != nil {
			return 0, err
		}
		if ok {
			return time.Since(begin), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("not within %s", mendDeadline)
		case <-ticker.C:
		}
	}
}
