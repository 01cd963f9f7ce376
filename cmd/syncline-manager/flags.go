package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"github.com/syncline-dev/syncline/clusters/shard"
)

// flags are what an operator of the manager sets.
type flags struct {
	kubeconfig        string
	namespace         string
	identity          string
	metricsAddress    string
	healthAddress     string
	pprofAddress      string
	timings           shard.Timings
	shards            int
	weight            int
	probeInterval     time.Duration
	orphanAfter       time.Duration
	memberConcurrency int
	allowProxy        bool
	allowDuplicates   bool
	logLevel          zapcore.Level
}

// parseFlags reads and validates the command line. Usage and help go to out.
func parseFlags(args []string, out io.Writer) (*flags, error) {
	f := &flags{}
	set := pflag.NewFlagSet("syncline-manager", pflag.ContinueOnError)
	set.SetOutput(out)
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the hub; in a pod the service account is used without it")
	set.StringVar(&f.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the manager's own namespace: its Leases, and what belongs to ClusterLayers (default $POD_NAMESPACE)")
	set.StringVar(&f.identity, "identity", "", "name of this replica, unlike that of any other; people see it as the owner of members (default host name)")
	set.StringVar(&f.metricsAddress, "metrics-bind-address", ":8080", "where metrics are served; 0 turns them off")
	set.StringVar(&f.healthAddress, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0 turns them off")
	set.StringVar(&f.pprofAddress, "pprof-bind-address", "0", "where profiles are served; 0 turns them off")
	set.DurationVar(&f.timings.LeaseDuration, "lease-duration", 15*time.Second, "how long other replicas wait after the last renewal of a Lease that they saw")
	set.DurationVar(&f.timings.RenewDeadline, "renew-deadline", 10*time.Second, "how long this replica leads, and writes to members, after the beginning of its last renewal; at most four fifths of --lease-duration")
	set.DurationVar(&f.timings.RetryPeriod, "retry-period", 2*time.Second, "time between renewals")
	set.IntVar(&f.shards, "shards", 64, "number of shards that members are spread over; all replicas must have the same, and the hub remembers it")
	set.IntVar(&f.weight, "weight", 1, "this replica's share of the members relative to others'")
	set.DurationVar(&f.probeInterval, "probe-interval", 5*time.Second, "time between probes of a member; after three that fail it is unreachable")
	set.DurationVar(&f.orphanAfter, "orphan-after", 15*time.Minute, "how long a deleted layer waits for a member that cannot be reached; then its objects there are recorded as orphans")
	set.IntVar(&f.memberConcurrency, "member-concurrency", 256, "how many members are served at the same time")
	set.BoolVar(&f.allowProxy, "allow-proxy", false, "accept kubeconfigs with a proxy-url")
	set.BoolVar(&f.allowDuplicates, "allow-duplicate-members", false, "serve a cluster that is registered more than once under each of its names, as where namespaces share clusters; by default only the eldest is served")
	level := set.String("log-level", "info", "debug, info, warn or error")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if err := f.logLevel.UnmarshalText([]byte(*level)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	return f, f.complete()
}

func (f *flags) complete() error {
	if f.identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("--identity is not set and there is no host name: %w", err)
		}
		f.identity = host
	}
	var problems []error
	if f.namespace == "" {
		problems = append(problems, errors.New("--namespace is required outside a pod"))
	}
	problems = append(problems, f.sharing()...)
	if f.probeInterval < time.Second || f.probeInterval > time.Minute {
		problems = append(problems, fmt.Errorf("--probe-interval %s must be between 1s and 1m", f.probeInterval))
	}
	if f.orphanAfter < time.Second {
		problems = append(problems, fmt.Errorf("--orphan-after %s must be at least 1s", f.orphanAfter))
	}
	if f.memberConcurrency < 1 || f.memberConcurrency > 1000 {
		problems = append(problems, fmt.Errorf("--member-concurrency %d must be between 1 and 1000", f.memberConcurrency))
	}
	return errors.Join(problems...)
}

// sharing checks how this replica shares the members with others.
func (f *flags) sharing() (problems []error) {
	t := f.timings
	if t.LeaseDuration < 3*time.Second || t.LeaseDuration > shard.LongestLease {
		problems = append(problems, fmt.Errorf("--lease-duration %s must be between 3s and %s", t.LeaseDuration, shard.LongestLease))
	}
	if t.RenewDeadline > t.LeaseDuration-t.LeaseDuration/5 {
		problems = append(problems, fmt.Errorf("--renew-deadline %s must leave a fifth of --lease-duration %s", t.RenewDeadline, t.LeaseDuration))
	}
	if t.RetryPeriod < 100*time.Millisecond || t.RetryPeriod > t.RenewDeadline/2 {
		problems = append(problems, fmt.Errorf("--retry-period %s must be at least 100ms and at most half of --renew-deadline %s", t.RetryPeriod, t.RenewDeadline))
	}
	if f.shards < 1 || f.shards > shard.MostShards {
		problems = append(problems, fmt.Errorf("--shards %d must be between 1 and %d", f.shards, shard.MostShards))
	}
	if f.weight < 1 || f.weight > shard.MostWeight {
		problems = append(problems, fmt.Errorf("--weight %d must be between 1 and %d", f.weight, shard.MostWeight))
	}
	return problems
}
