package fleet

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

var knownKinds = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(clusterv1.AddToScheme(scheme))
	return scheme
}()

// UserClusterAPI is the user of the kubeconfigs that Register makes, as Cluster API has it.
const UserClusterAPI = "kubernetes-admin"

// ecKey lets Cluster API make a small key for the kubeconfig's user; its default,
// RSA, takes a few hundred milliseconds.
var ecKey = kubeconfig.KeyEncryptionAlgorithm(bootstrapv1.EncryptionAlgorithmECDSAP256)

// Register makes on the hub what Cluster API leaves there for a cluster that it
// has provisioned, in the member's namespace: a Cluster with the member's labels,
// the Secret NAME-ca and the Secret NAME-kubeconfig. The user of that kubeconfig
// is UserClusterAPI.
//
// A member that is registered already gets a new CA and a new kubeconfig: that
// is a rotation of credentials, and what Recreate makes necessary.
func (f *Fleet) Register(ctx context.Context, c *Cluster) error {
	return f.RegisterIn(ctx, c, c.member.Namespace)
}

// RegisterIn is Register for another namespace than the member's own, so that
// tests which share a member need not share what the hub knows of it.
func (f *Fleet) RegisterIn(ctx context.Context, c *Cluster, namespace string) error {
	hub, err := f.hub.Client(nil)
	if err != nil {
		return err
	}
	r := registration{hub: hub, cluster: c, key: client.ObjectKey{Namespace: namespace, Name: c.name}}
	if err := r.make(ctx, !f.cfg.WithoutClusterAPI); err != nil {
		return fmt.Errorf("register %s: %w", r.key, err)
	}
	return nil
}

// Unregister deletes what Register made; the namespace stays.
func (f *Fleet) Unregister(ctx context.Context, c *Cluster) error {
	return f.UnregisterFrom(ctx, c, c.member.Namespace)
}

// UnregisterFrom deletes what RegisterIn made.
func (f *Fleet) UnregisterFrom(ctx context.Context, c *Cluster, namespace string) error {
	hub, err := f.hub.Client(nil)
	if err != nil {
		return err
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	objects := []client.Object{
		&corev1.Secret{ObjectMeta: meta(secret.Name(c.name, secret.Kubeconfig))},
		&corev1.Secret{ObjectMeta: meta(secret.Name(c.name, secret.ClusterCA))},
	}
	if !f.cfg.WithoutClusterAPI {
		objects = append([]client.Object{&clusterv1.Cluster{ObjectMeta: meta(c.name)}}, objects...)
	}
	var errs []error
	for _, object := range objects {
		errs = append(errs, client.IgnoreNotFound(hub.Delete(ctx, object)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("unregister %s/%s: %w", namespace, c.name, err)
	}
	return nil
}

// registration is one member on the hub.
type registration struct {
	hub     client.Client
	cluster *Cluster
	key     client.ObjectKey
}

func (r registration) make(ctx context.Context, withCluster bool) error {
	if err := ensureNamespace(ctx, r.hub, r.key.Namespace); err != nil {
		return err
	}
	var owner metav1.OwnerReference
	if withCluster {
		cluster, err := r.ensureCluster(ctx)
		if err != nil {
			return fmt.Errorf("make Cluster: %w", err)
		}
		owner = *metav1.NewControllerRef(cluster, clusterv1.GroupVersion.WithKind("Cluster"))
	}
	ca, err := r.ensureCA(ctx, owner)
	if err != nil {
		return fmt.Errorf("make CA Secret: %w", err)
	}
	if !withCluster {
		// Cluster API's code wants an owner, and the garbage collector one that exists.
		owner = *metav1.NewControllerRef(ca, corev1.SchemeGroupVersion.WithKind("Secret"))
	}
	if err := r.ensureKubeconfig(ctx, owner); err != nil {
		return fmt.Errorf("make kubeconfig Secret: %w", err)
	}
	return nil
}

// ensureCluster makes a Cluster that looks provisioned. Its infrastructure is of
// a kind that is not installed.
func (r registration) ensureCluster(ctx context.Context) (*clusterv1.Cluster, error) {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.hub, cluster, func() error {
		cluster.Labels = r.cluster.member.Labels
		cluster.Spec.ControlPlaneEndpoint = r.endpoint()
		cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
			APIGroup: "infrastructure.cluster.x-k8s.io",
			Kind:     "FleetCluster",
			Name:     r.key.Name,
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	cluster.Status.Phase = string(clusterv1.ClusterPhaseProvisioned)
	cluster.Status.ObservedGeneration = cluster.Generation
	cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{
		InfrastructureProvisioned: ptr.To(true),
		ControlPlaneInitialized:   ptr.To(true),
	}
	return cluster, r.hub.Status().Update(ctx, cluster)
}

// ensureCA stores the member's CA as Cluster API's control plane providers do.
func (r registration) ensureCA(ctx context.Context, owner metav1.OwnerReference) (*corev1.Secret, error) {
	pair := r.cluster.state().ca.pem
	certificate := secret.Certificate{
		Purpose:   secret.ClusterCA,
		KeyPair:   &certs.KeyPair{Cert: pair.cert, Key: pair.key},
		Generated: owner.UID != "", // sets the owner
	}
	want := certificate.AsSecret(r.key, owner)
	err := r.hub.Create(ctx, want)
	if !apierrors.IsAlreadyExists(err) {
		return want, err
	}
	have, err := secret.GetFromNamespacedName(ctx, r.hub, r.key, secret.ClusterCA)
	if err != nil {
		return nil, err
	}
	have.Data = want.Data
	return have, r.hub.Update(ctx, have)
}

func (r registration) ensureKubeconfig(ctx context.Context, owner metav1.OwnerReference) error {
	endpoint := r.endpoint()
	err := kubeconfig.CreateSecretWithOwner(ctx, r.hub, r.key, endpoint.String(), owner, ecKey)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	have, err := secret.GetFromNamespacedName(ctx, r.hub, r.key, secret.Kubeconfig)
	if err != nil {
		return err
	}
	return kubeconfig.RegenerateSecret(ctx, r.hub, have, ecKey)
}

func (r registration) endpoint() clusterv1.APIEndpoint {
	return clusterv1.APIEndpoint{Host: loopback, Port: int32(r.cluster.state().port)}
}
