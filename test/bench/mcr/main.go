// Command mcr is what the benchmark compares Syncline's ownership of members with: a
// controller on multicluster-runtime's own sharded coordinator and its provider of
// kubeconfig Secrets, as its users would write it. On every member it puts the fields of
// labelled ConfigMaps back when somebody has changed them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded/peers"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
	kubeconfigprovider "sigs.k8s.io/multicluster-runtime/providers/kubeconfig"
)

// settings say who this process is and what it keeps.
type settings struct {
	kubeconfig  string
	identity    string
	namespace   string // of the kubeconfig Secrets
	secretLabel string
	keptLabel   string // of the ConfigMaps that are kept
	keptValue   string // of each of their fields

	leaseNamespace string
	leaseDuration  time.Duration
	retryPeriod    time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.kubeconfig, "hub", "", "kubeconfig of the hub")
	flag.StringVar(&s.identity, "identity", "", "name of this peer")
	flag.StringVar(&s.namespace, "namespace", "", "where the members' kubeconfig Secrets are")
	flag.StringVar(&s.secretLabel, "secret-label", "", "label of those Secrets, whose value is true")
	flag.StringVar(&s.keptLabel, "kept-label", "", "label of the ConfigMaps that are kept, whose value is true")
	flag.StringVar(&s.keptValue, "kept-value", "", "what each of their fields should hold")
	flag.StringVar(&s.leaseNamespace, "lease-namespace", "kube-system", "where Leases are")
	flag.DurationVar(&s.leaseDuration, "lease-duration", 15*time.Second, "how long a Lease of a member lives")
	flag.DurationVar(&s.retryPeriod, "retry-period", 2*time.Second, "time between renewals, and between decisions")
	flag.Parse()
	if err := run(ctrl.SetupSignalHandler(), s); err != nil {
		fmt.Fprintln(os.Stderr, "mcr:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	ctrl.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	coordinator, err := s.coordinator(config)
	if err != nil {
		return err
	}
	provider := s.provider()
	options := ctrl.Options{Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"}
	mgr, err := mcmanager.New(config, provider, options, mcmanager.WithCoordinator(coordinator))
	if err != nil {
		return err
	}
	if err := provider.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	err = mcbuilder.ControllerManagedBy(mgr).Named("kept").For(&corev1.ConfigMap{}).
		Complete(mcreconcile.Func(func(ctx context.Context, req mcreconcile.Request) (ctrl.Result, error) {
			return ctrl.Result{}, s.keep(ctx, mgr, req)
		}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// coordinator has the timings of Syncline where it has such timings at all: how long the Lease
// of a peer lives is not among them.
func (s settings) coordinator(config *rest.Config) (*sharded.Coordinator, error) {
	hub, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	logger := ctrl.Log.WithName("coordinator")
	return sharded.New(hub, logger,
		sharded.WithShardLease(s.leaseNamespace, "mcr-shard"),
		sharded.WithPeerRegistry(peers.NewLeaseRegistry(hub, s.leaseNamespace, "mcr-peer", s.identity, 1, logger)),
		sharded.WithLeaseTimings(s.leaseDuration, s.retryPeriod, s.retryPeriod/2),
		sharded.WithSynchronizationIntervals(s.retryPeriod, s.retryPeriod),
	), nil
}

// provider makes plain clusters whose caches hold what is kept, and no more.
func (s settings) provider() *kubeconfigprovider.Provider {
	kept := labels.SelectorFromSet(labels.Set{s.keptLabel: "true"})
	return kubeconfigprovider.New(kubeconfigprovider.Options{
		Namespace: s.namespace, KubeconfigSecretLabel: s.secretLabel, KubeconfigSecretKey: "value",
		RESTOptions: []func(*rest.Config) error{func(config *rest.Config) error {
			config.QPS = -1
			config.UserAgent = "mcr (" + s.identity + ")"
			return nil
		}},
		ClusterOptions: []cluster.Option{func(o *cluster.Options) {
			o.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Label: kept}}
		}},
	})
}

// keep puts the fields of one ConfigMap back.
func (s settings) keep(ctx context.Context, mgr mcmanager.Manager, req mcreconcile.Request) error {
	member, err := mgr.GetCluster(ctx, req.ClusterName)
	if err != nil {
		return err
	}
	var found corev1.ConfigMap
	if err := member.GetClient().Get(ctx, req.NamespacedName, &found); err != nil {
		return client.IgnoreNotFound(err)
	}
	wanted := map[string]string{}
	changed := false
	for field, value := range found.Data {
		wanted[field] = s.keptValue
		changed = changed || value != s.keptValue
	}
	if !changed {
		return nil
	}
	apply := corev1ac.ConfigMap(found.Name, found.Namespace).WithData(wanted)
	return member.GetClient().Apply(ctx, apply, client.FieldOwner("mcr"), client.ForceOwnership)
}
