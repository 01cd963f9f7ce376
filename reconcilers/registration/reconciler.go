package registration

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// fieldManager owns what registration says of a MemberCluster, and nothing that people
// add to it.
const fieldManager = client.FieldOwner("syncline-registration")

// Reconciler keeps one MemberCluster in step with its Secret and its Cluster.
type Reconciler struct {
	// Client reads MemberClusters and Clusters from the cache, Secrets from the hub.
	Client client.Client
	// Options say which kubeconfigs are accepted.
	Options registration.Options
	// ClusterAPI says what is known of Cluster API's kinds.
	ClusterAPI func(context.Context) (clusterAPI, error)
	// Clock says whether credentials have expired.
	Clock clock.PassiveClock
}

// facts is everything that a pass looks at.
type facts struct {
	member  *v1alpha1.MemberCluster // nil where there is none yet
	cluster *clusterv1.Cluster      // nil where Cluster API has none
	secret  *corev1.Secret          // nil where there is none
}

// Reconcile serves the MemberCluster that the request names.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	clusters, err := r.ClusterAPI(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if clusters == undecided {
		return hub.Behind(), nil
	}
	seen, err := r.look(ctx, req, clusters == watched)
	if err != nil {
		return reconcile.Result{}, err
	}
	switch {
	case seen.member == nil && seen.secret == nil:
		return reconcile.Result{}, nil
	case seen.member != nil && !seen.member.DeletionTimestamp.IsZero():
		return reconcile.Result{}, nil
	case seen.gone():
		log.FromContext(ctx).Info("member left: its kubeconfig Secret is gone")
		return reconcile.Result{}, client.IgnoreNotFound(r.Client.Delete(ctx, seen.member,
			client.Preconditions{UID: &seen.member.UID}))
	}
	member, err := r.ensure(ctx, req, seen)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := member.DeepCopy()
	changes := r.judge(member, seen)
	if _, err = hub.PatchStatus(ctx, r.Client, before, member); err != nil {
		return hub.Outcome(err)
	}
	return reconcile.Result{RequeueAfter: changes}, nil
}

// look reads; an error of any read ends the pass, so that nothing is taken for absent
// that merely could not be read.
func (r *Reconciler) look(ctx context.Context, req reconcile.Request, clusters bool) (facts, error) {
	var seen facts
	member := &v1alpha1.MemberCluster{}
	switch err := r.Client.Get(ctx, req.NamespacedName, member); {
	case err == nil:
		seen.member = member
	case !apierrors.IsNotFound(err):
		return seen, fmt.Errorf("read MemberCluster: %w", err)
	}
	secret := &corev1.Secret{}
	secretKey := client.ObjectKey{Namespace: req.Namespace, Name: secretName(req, seen.member)}
	switch err := r.Client.Get(ctx, secretKey, secret); {
	case err == nil:
		if _, isMember := registration.MemberOf(secret); isMember || seen.member != nil {
			seen.secret = secret
		}
	case !apierrors.IsNotFound(err):
		return seen, fmt.Errorf("read kubeconfig Secret: %w", err)
	}
	if !clusters {
		return seen, nil
	}
	cluster := &clusterv1.Cluster{}
	switch err := r.Client.Get(ctx, req.NamespacedName, cluster); {
	case err == nil:
		seen.cluster = cluster
	case !apierrors.IsNotFound(err):
		return seen, fmt.Errorf("read Cluster: %w", err)
	}
	return seen, nil
}

func secretName(req reconcile.Request, member *v1alpha1.MemberCluster) string {
	if member != nil {
		return member.Spec.KubeconfigSecret
	}
	return req.Name + registration.SecretSuffix
}

// gone says whether the MemberCluster should go. One that a person made stays and says
// that its Secret is missing.
func (f facts) gone() bool {
	return f.secret == nil && f.cluster == nil && f.member.Labels[labelManagedBy] == managedBy
}

const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "syncline"
)

// labels are those of the Secret and of the Cluster; the Cluster's win.
func (f facts) labels() map[string]any {
	labels := map[string]any{labelManagedBy: managedBy}
	if f.secret != nil {
		for key, value := range f.secret.Labels {
			labels[key] = value
		}
	}
	if f.cluster != nil {
		for key, value := range f.cluster.Labels {
			labels[key] = value
		}
	}
	return labels
}

// ensure applies what registration says of the MemberCluster, if it does not say so yet.
func (r *Reconciler) ensure(ctx context.Context, req reconcile.Request, seen facts) (*v1alpha1.MemberCluster, error) {
	if seen.secret == nil {
		return seen.member.DeepCopy(), nil
	}
	labels := seen.labels()
	if seen.member != nil {
		if seen.member.Labels[labelManagedBy] != managedBy {
			delete(labels, labelManagedBy)
		}
		if saysAlready(seen.member, labels) {
			return seen.member.DeepCopy(), nil
		}
	}
	desired := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"kubeconfigSecret": seen.secret.Name},
	}}
	desired.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MemberCluster"))
	desired.SetNamespace(req.Namespace)
	desired.SetName(req.Name)
	if err := unstructured.SetNestedMap(desired.Object, labels, "metadata", "labels"); err != nil {
		return nil, err
	}
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(desired), fieldManager, client.ForceOwnership); err != nil {
		return nil, fmt.Errorf("apply MemberCluster: %w", err)
	}
	member := &v1alpha1.MemberCluster{}
	if err := fromUnstructured(desired, member); err != nil {
		return nil, err
	}
	return member, nil
}

// judge sets what registration knows: whether the kubeconfig can be used, until when, and
// whether the member is paused. It returns in how long that changes by itself; 0 for never.
func (r *Reconciler) judge(member *v1alpha1.MemberCluster, seen facts) (changes time.Duration) {
	status := &member.Status
	registered := metav1.Condition{
		Type: v1alpha1.ConditionRegistered, Status: metav1.ConditionTrue,
		Reason: "KubeconfigAccepted", Message: fmt.Sprintf("Secret %s is in use", member.Spec.KubeconfigSecret),
	}
	var life *registration.Life
	if seen.secret == nil {
		registered.Status = metav1.ConditionFalse
		registered.Reason = "SecretMissing"
		registered.Message = fmt.Sprintf("Secret %s/%s does not exist; create it, or delete this MemberCluster",
			member.Namespace, member.Spec.KubeconfigSecret)
	} else if accepted, refusal := accept(seen.secret, r.Options); refusal != nil {
		registered.Status = metav1.ConditionFalse
		registered.Reason, registered.Message = refusal.Reason, refusal.Error()
	} else {
		life = accepted
	}
	status.CredentialsExpire = nil
	if life != nil {
		status.CredentialsExpire = &metav1.Time{Time: life.Ends}
	}
	hub.SetCondition(member, registered)
	expires, changes := expiring(member.Spec.KubeconfigSecret, life, r.Clock.Now())
	expires.ObservedGeneration = member.Generation
	hub.SetOnlyWhileTrue(&status.Conditions, expires.Reason != "", expires)
	paused := pausedBecause(member, seen.cluster)
	paused.ObservedGeneration = member.Generation
	hub.SetOnlyWhileTrue(&status.Conditions, paused.Reason != "", paused)
	hub.SummarizeMember(member)
	status.ObservedGeneration = member.Generation
	return changes
}

// pausedBecause is the Paused condition; without a reason the member is not paused.
func pausedBecause(member *v1alpha1.MemberCluster, cluster *clusterv1.Cluster) metav1.Condition {
	paused := metav1.Condition{Type: v1alpha1.ConditionPaused}
	switch {
	case member.Spec.Paused:
		paused.Reason, paused.Message = "MemberPaused", "spec.paused is true: nothing is written to the member"
	case cluster == nil:
	case !cluster.DeletionTimestamp.IsZero():
		paused.Reason = "ClusterDeleting"
		paused.Message = "Cluster API is deleting the Cluster: nothing is written to the member any more"
	case cluster.Spec.Paused != nil && *cluster.Spec.Paused:
		paused.Reason = "ClusterPaused"
		paused.Message = "the Cluster's spec.paused is true: nothing is written to the member"
	}
	return paused
}
