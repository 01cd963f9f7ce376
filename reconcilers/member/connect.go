package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/federation/health"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// ConnectionsConfig says how members are connected.
type ConnectionsConfig struct {
	// Replica owns members. Its Admission is asked before every write.
	Replica *shard.Replica
	// HubID marks our objects on members.
	HubID string
	// Identity of this replica, as members' audit logs show it.
	Identity string
	// ProbeInterval is the time between probes of a member; 0 for the default.
	ProbeInterval time.Duration
	// Registration says which kubeconfigs are accepted.
	Registration registration.Options
}

// Connections keeps this replica connected to the members that it owns, and to those that it
// is about to own: it follows their Secrets, replaces credentials in place, and shuts and
// opens the gates of paused members.
type Connections struct {
	config   ConnectionsConfig
	provider *member.Provider
	client   client.Client
	// redButton stops the writes to all members. Its pause follows the Federation.
	redButton *member.Gate
	// members asks for a member to be served, secrets for its Secret to be read again, shards
	// for the members of a shard to be looked at.
	members hub.Trigger[mcreconcile.Request]
	secrets hub.Trigger[reconcile.Request]
	shards  hub.Trigger[int]
}

// NewConnections makes the connections, empty.
func NewConnections(config ConnectionsConfig) (*Connections, error) {
	c := &Connections{config: config, redButton: member.NewGate("Federation " + v1alpha1.FederationName)}
	provider, err := member.NewProvider(member.ProviderConfig{
		Settings: member.Settings{
			HubID: config.HubID, Health: health.Of, ProbeInterval: config.ProbeInterval,
			Replica: config.Identity,
		},
		Admission:    func(key types.NamespacedName) member.Admission { return config.Replica.Admission(key) },
		Gate:         c.redButton,
		Notify:       func(key types.NamespacedName) { c.members.Fire(requestFor(key)) },
		Unauthorized: func(key types.NamespacedName) { c.secrets.Fire(reconcile.Request{NamespacedName: key}) },
	})
	if err != nil {
		return nil, err
	}
	c.provider = provider
	config.Replica.OnChange(func(change shard.Change) { c.shards.Fire(change.Shard) })
	config.Replica.OnExpect(c.shards.Fire)
	return c, nil
}

// Provider is what multicluster-runtime's manager runs.
func (c *Connections) Provider() *member.Provider { return c.provider }

// Reconcile connects the member that the request names, or disconnects it: one that is gone, or
// that is another replica's. A Secret that cannot be used leaves a connection as it is:
// registration says what is wrong with it.
func (c *Connections) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if _, owned := c.config.Replica.Owns(req.NamespacedName); !owned && !c.config.Replica.Expects(req.NamespacedName) {
		c.provider.Disconnect(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	var cluster v1alpha1.MemberCluster
	err := c.client.Get(ctx, req.NamespacedName, &cluster)
	if apierrors.IsNotFound(err) || err == nil && !cluster.DeletionTimestamp.IsZero() {
		c.provider.Disconnect(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read MemberCluster: %w", err)
	}
	var secret corev1.Secret
	secretKey := types.NamespacedName{Namespace: req.Namespace, Name: cluster.Spec.KubeconfigSecret}
	if err := c.client.Get(ctx, secretKey, &secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	accepted, err := registration.FromSecret(&secret, c.config.Registration)
	var refused *registration.RefusedError
	if errors.As(err, &refused) {
		log.FromContext(ctx).V(1).Info("kubeconfig refused", "reason", refused.Reason)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := c.provider.Connect(ctx, req.NamespacedName, accepted); err != nil {
		return reconcile.Result{}, err
	}
	if connected, ok := c.provider.Member(req.NamespacedName); ok {
		connected.SetPaused(pausedByMember(&cluster) != "")
	}
	return reconcile.Result{}, nil
}

// followFederation is the red button: it shuts and opens the gate above all members.
func (c *Connections) followFederation(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var federation v1alpha1.Federation
	if err := c.client.Get(ctx, req.NamespacedName, &federation); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("read Federation: %w", err)
	}
	if !c.redButton.SetPaused(federation.Spec.Paused) {
		return reconcile.Result{}, nil
	}
	log.FromContext(ctx).Info("writing to members", "paused", federation.Spec.Paused)
	// A pass that ran before the gate moved has found it as it was.
	var members v1alpha1.MemberClusterList
	if err := c.client.List(ctx, &members); err != nil {
		return reconcile.Result{}, fmt.Errorf("list members: %w", err)
	}
	for i := range members.Items {
		c.members.Fire(requestFor(client.ObjectKeyFromObject(&members.Items[i])))
	}
	return reconcile.Result{}, nil
}

// followShard has the members of a shard looked at that has become ours or is to be, or has
// ceased to be.
func (c *Connections) followShard(ctx context.Context, shard int) (reconcile.Result, error) {
	members, err := hub.MembersOfShard(ctx, c.client, shard)
	if err != nil {
		return reconcile.Result{}, err
	}
	for key := range members {
		c.secrets.Fire(reconcile.Request{NamespacedName: key})
		c.members.Fire(requestFor(key))
	}
	return reconcile.Result{}, nil
}
