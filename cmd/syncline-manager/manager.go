package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-logr/zapr"
	"github.com/google/uuid"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/reconcilers/aggregation"
	reconcileassertion "github.com/syncline-dev/syncline/reconcilers/assertion"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	reconcilemember "github.com/syncline-dev/syncline/reconcilers/member"
	"github.com/syncline-dev/syncline/reconcilers/observation"
	"github.com/syncline-dev/syncline/reconcilers/ownership"
	"github.com/syncline-dev/syncline/reconcilers/placement"
	reconcileregistration "github.com/syncline-dev/syncline/reconcilers/registration"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// leaseName is the Lease by which one replica leads: it runs the hub's controllers.
const leaseName = "syncline-leader"

// rememberedAssertions is how many StateAssertions a replica keeps compiled.
const rememberedAssertions = 1024

// runManager runs until ctx is done. Then it hands over the members that it owns, stops, and
// gives the leader's Lease back.
func runManager(ctx context.Context, f *flags) error {
	if err := setUpLogging(f.logLevel); err != nil {
		return err
	}
	config, err := hubConfig(f.kubeconfig)
	if err != nil {
		return err
	}
	hubID, err := hubIdentity(ctx, config)
	if err != nil {
		return err
	}
	replica, err := newReplica(config, f)
	if err != nil {
		return err
	}
	connections, err := reconcilemember.NewConnections(reconcilemember.ConnectionsConfig{
		Replica: replica, HubID: hubID, Identity: f.identity, ProbeInterval: f.probeInterval,
		Registration: registration.Options{AllowProxy: f.allowProxy},
	})
	if err != nil {
		return err
	}
	options := managerOptions(f)
	if err := electLeader(config, f, &options); err != nil {
		return err
	}
	mgr, err := mcmanager.New(config, connections.Provider(), options, mcmanager.WithCoordinator(shard.NewCoordinator(replica)))
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if err := setUp(ctx, mgr, f, hubID, replica, connections); err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() {
		replica.Leave()
		stop()
	})
	return mgr.Start(running)
}

// electLeader has the manager take part in the election of the leader, under a name that tells
// people which replica leads.
func electLeader(config *rest.Config, f *flags, options *ctrl.Options) error {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, f.namespace, leaseName,
		resourcelock.ResourceLockConfig{Identity: f.identity + "_" + uuid.NewString()[:8]},
		rest.AddUserAgent(rest.CopyConfig(config), "leader-election"), f.timings.RenewDeadline)
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	options.LeaderElection = true
	options.LeaderElectionResourceLockInterface = lock
	options.LeaderElectionReleaseOnCancel = true
	options.LeaseDuration = &f.timings.LeaseDuration
	options.RenewDeadline = &f.timings.RenewDeadline
	options.RetryPeriod = &f.timings.RetryPeriod
	return nil
}

// newReplica returns this process's part in owning members. Its Leases have a client of their
// own: they must not wait behind other requests.
func newReplica(config *rest.Config, f *flags) (*shard.Replica, error) {
	client, err := coordinationv1.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config), "ownership"))
	if err != nil {
		return nil, fmt.Errorf("client for Leases: %w", err)
	}
	leases := client.Leases(f.namespace)
	return shard.NewReplica(shard.ReplicaConfig{
		Timings: f.timings, Name: f.identity, Weight: f.weight, Shards: f.shards, Reader: leases, Writer: leases,
	})
}

// setUp adds the controllers and the health checks.
func setUp(ctx context.Context, mgr mcmanager.Manager, f *flags, hubID string, replica *shard.Replica, connections *reconcilemember.Connections) error {
	local := mgr.GetLocalManager()
	if err := hub.SetUpCache(ctx, local.GetCache(), replica.ShardOf); err != nil {
		return err
	}
	revisions := revision.NewStore(local.GetClient(), f.namespace)
	if err := reconcileregistration.Setup(local, registration.Options{AllowProxy: f.allowProxy}); err != nil {
		return err
	}
	if err := placement.Setup(local, revisions, f.namespace); err != nil {
		return err
	}
	if err := aggregation.Setup(local); err != nil {
		return err
	}
	if err := ownership.Setup(local, replica, f.timings.TakeoverBound()); err != nil {
		return err
	}
	if err := reconcilemember.Setup(ctx, mgr, connections, reconcilemember.Config{
		Revisions: revisions, HubID: hubID, Identity: f.identity, SystemNamespace: f.namespace,
		AllowDuplicates: f.allowDuplicates, OrphanAfter: f.orphanAfter, Concurrency: f.memberConcurrency,
	}); err != nil {
		return err
	}
	if err := setUpAssertions(local, f, revisions, replica, connections); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("ownership", func(*http.Request) error { return replica.Ready() })
}

// setUpAssertions adds what observes members for StateAssertions, and what judges these.
func setUpAssertions(mgr ctrl.Manager, f *flags, revisions *revision.Store, replica *shard.Replica, connections *reconcilemember.Connections) error {
	states := assertion.NewCache(rememberedAssertions)
	if err := reconcileassertion.Setup(mgr, revisions, states); err != nil {
		return err
	}
	return observation.Setup(mgr, observation.Config{
		Ownership: replica, Members: connections.Provider(), Identity: f.identity, States: states,
	})
}

func managerOptions(f *flags) ctrl.Options {
	stripped := cache.TransformStripManagedFields()
	return ctrl.Options{
		Scheme:                 newScheme(),
		Controller:             controllerconfig.Controller{UsePriorityQueue: hub.UsePriorityQueue()},
		Metrics:                server.Options{BindAddress: f.metricsAddress},
		HealthProbeBindAddress: f.healthAddress,
		PprofBindAddress:       f.pprofAddress,
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			// Only metadata is watched of these, to know when to read them.
			&corev1.ConfigMap{}: {Transform: stripped},
			&corev1.Secret{}:    {Transform: stripped},
		}},
		// What may be large or secret is read when it is needed, and kept by nobody.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{
			&corev1.ConfigMap{}, &corev1.Secret{}, &appsv1.ControllerRevision{},
		}}},
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // the kinds clash: no input can cause or mend it
		}
	}
	return scheme
}

// hubConfig reaches the hub without a rate limit of our own: the server has its fairness.
func hubConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	var config *rest.Config
	var err error
	if kubeconfig == "" {
		config, err = ctrl.GetConfig()
	} else {
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	config.QPS = -1
	return rest.AddUserAgent(config, "syncline-manager"), nil
}

// hubIdentity is the UID of the hub's kube-system namespace: what tells its objects on a
// member from another hub's.
func hubIdentity(ctx context.Context, config *rest.Config) (string, error) {
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return "", fmt.Errorf("hub: %w", err)
	}
	var system metav1.PartialObjectMetadata
	system.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := c.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &system); err != nil {
		return "", fmt.Errorf("identity of the hub: %w", err)
	}
	return string(system.UID), nil
}

func setUpLogging(level zapcore.Level) error {
	config := zap.NewProductionConfig()
	config.Level = zap.NewAtomicLevelAt(level)
	config.Sampling = nil
	config.EncoderConfig.TimeKey = "time"
	config.EncoderConfig.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.DisableStacktrace = true
	logger, err := config.Build()
	if err != nil {
		return fmt.Errorf("logger: %w", err)
	}
	ctrl.SetLogger(zapr.NewLogger(logger))
	klog.SetLogger(zapr.NewLogger(logger.Named("klog")))
	return nil
}
