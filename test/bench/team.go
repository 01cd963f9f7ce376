package main

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// contender is what may look after the members: Syncline, or what it is compared with.
type contender struct {
	name string
	// namespace of what it keeps on the members.
	namespace string
	// quiet is for how long owners stay as they are when no move is to come.
	quiet time.Duration
	// start adds a process. It has a name that none had before it, as a pod has.
	start func(context.Context) (*peer, error)
	// owners are the processes that say that they own members, by member.
	owners func(context.Context) (map[string]string, error)
}

// peer is one process of a contender.
type peer struct {
	*fleet.Process
	identity string
}

// syncline is ours.
func (b *bench) syncline() contender {
	return contender{
		name: "syncline", namespace: oursNamespace, quiet: 5 * time.Second,
		start: func(ctx context.Context) (*peer, error) {
			// Replicas cannot serve their profiles at one address.
			replica, err := b.product.StartReplicaWith(ctx, install.ReplicaOptions{Args: []string{"--pprof-bind-address=0"}})
			if err != nil {
				return nil, err
			}
			return &peer{replica.Process, replica.Identity}, nil
		},
		owners: func(ctx context.Context) (map[string]string, error) {
			var members v1alpha1.MemberClusterList
			if err := b.hub.List(ctx, &members, client.InNamespace(hubNamespace)); err != nil {
				return nil, err
			}
			owners := map[string]string{}
			for _, m := range members.Items {
				owners[m.Name] = hub.OwnerOf(&m)
			}
			return owners, nil
		},
	}
}

const (
	// mcrLabel is on the kubeconfig Secrets that multicluster-runtime's provider reads.
	mcrLabel = "bench.syncline.dev/mcr"
	// mcrLeases is how it calls the Leases of members; what follows is its name of the member.
	mcrLeases = "mcr-shard-"
)

// mcr builds the program on multicluster-runtime's sharded coordinator. Its peers look at each
// other every ten seconds.
func (b *bench) mcr(ctx context.Context) (contender, error) {
	program := filepath.Join(b.fleet.Dir(), "bin", "mcr")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./test/bench/mcr")
	build.Dir = install.Path()
	if out, err := build.CombinedOutput(); err != nil {
		return contender{}, fmt.Errorf("build what Syncline is compared with: %w\n%s", err, out)
	}
	if err := b.labelKubeconfigs(ctx); err != nil {
		return contender{}, err
	}
	started := 0
	return contender{
		name: "mcr", namespace: bareNamespace, quiet: 13 * time.Second,
		start: func(context.Context) (*peer, error) {
			identity := fmt.Sprintf("mcr-%d", started)
			started++
			process, err := b.fleet.Run(identity, program, "-hub="+b.fleet.Hub().KubeconfigPath(), "-identity="+identity,
				"-namespace="+hubNamespace, "-secret-label="+mcrLabel, "-kept-label="+keptLabel, "-kept-value="+kept)
			return &peer{process, identity}, err
		},
		owners: b.mcrOwners,
	}, nil
}

// labelKubeconfigs shows the members to multicluster-runtime's provider.
func (b *bench) labelKubeconfigs(ctx context.Context) error {
	label := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, mcrLabel))
	for _, m := range b.fleet.Members() {
		name := secret.Name(m.Name(), secret.Kubeconfig)
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: name}}
		if err := b.hub.Patch(ctx, s, label); err != nil {
			return fmt.Errorf("label %s: %w", name, err)
		}
	}
	return nil
}

func (b *bench) mcrOwners(ctx context.Context) (map[string]string, error) {
	var leases coordinationv1.LeaseList
	if err := b.hub.List(ctx, &leases, client.InNamespace(metav1.NamespaceSystem)); err != nil {
		return nil, err
	}
	owners := map[string]string{}
	for _, l := range leases.Items {
		if name, is := strings.CutPrefix(l.Name, mcrLeases); is {
			member, _, err := secret.ParseSecretName(name)
			if err != nil {
				return nil, err
			}
			owners[member] = ptr.Deref(l.Spec.HolderIdentity, "")
		}
	}
	return owners, nil
}

// team are the running peers of a contender, and the probers of what it keeps.
type team struct {
	contender
	members int
	peers   []*peer
	probers *probers
}

// gather starts a team and waits until each member has an owner.
func (b *bench) gather(ctx context.Context, c contender, peers int) (*team, error) {
	t := &team{contender: c, members: len(b.fleet.Members())}
	for range peers {
		if err := t.join(ctx); err != nil {
			return t, err
		}
	}
	var err error
	if t.probers, err = b.probe(ctx, c.namespace); err != nil {
		return t, err
	}
	return t, t.settle(ctx)
}

// disband stops what gather has started.
func (t *team) disband() error {
	if t.probers != nil {
		t.probers.stop()
	}
	for _, p := range t.peers {
		if err := p.Terminate(time.Minute); err != nil {
			return err
		}
	}
	return nil
}

func (t *team) join(ctx context.Context) error {
	p, err := t.start(ctx)
	if err != nil {
		return err
	}
	t.peers = append(t.peers, p)
	return nil
}

// leave ends the peer that owns most members.
func (t *team) leave(ctx context.Context, end func(*peer) error) error {
	owners, err := t.owners(ctx)
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, owner := range owners {
		count[owner]++
	}
	gone := slices.MaxFunc(t.peers, func(a, b *peer) int { return count[a.identity] - count[b.identity] })
	t.peers = slices.DeleteFunc(t.peers, func(p *peer) bool { return p == gone })
	return end(gone)
}

// move does what makes members change their owners, waits until that is over, and returns the
// longest time that a change stayed unmended, for each member that moved.
func (t *team) move(ctx context.Context, what string, act func(context.Context) error) ([]time.Duration, error) {
	before, err := t.owners(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := act(ctx); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", t.name, what, err)
	}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	after, err := t.owners(ctx)
	if err != nil {
		return nil, err
	}
	var gaps []time.Duration
	for _, member := range slices.Sorted(maps.Keys(after)) {
		if before[member] == after[member] {
			continue
		}
		gap := t.probers.longest(member, began)
		gaps = append(gaps, gap)
		say("%s: %s at %s: %s moved from %s to %s, %s unmended", t.name, what,
			began.UTC().Format("15:04:05.000"), member, before[member], after[member], gap.Round(time.Millisecond))
		if gap == longestOutage {
			say("# %s: %s is not mended any more; it counts %s", t.name, member, longestOutage)
		}
	}
	return gaps, nil
}

// settle waits until peers that run own all members, nothing has moved for a while and all
// changes are mended, or until it is plain that one is not going to be.
func (t *team) settle(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, longestOutage+2*t.quiet)
	defer cancel()
	var last map[string]string
	since := time.Now()
	err := until(bounded, func(ctx context.Context) (bool, error) {
		owners, err := t.owners(ctx)
		if err != nil {
			return false, err
		}
		if !maps.Equal(owners, last) || !t.own(owners) || !t.probers.mended(time.Second) {
			last, since = owners, time.Now()
		}
		return time.Since(since) > t.quiet, nil
	})
	if bounded.Err() != nil && ctx.Err() == nil {
		say("# %s: members do not come to rest: owners are %v", t.name, last)
		return nil
	}
	return err
}

// own says whether peers that run own all members.
func (t *team) own(owners map[string]string) bool {
	for _, owner := range owners {
		if !slices.ContainsFunc(t.peers, func(p *peer) bool { return p.identity == owner }) {
			return false
		}
	}
	return len(owners) == t.members
}
