package e2e

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

// What people do to Leases, and managers that do not fit together: on a hub of its own, one
// after another.
func TestOwnershipAndPeople(t *testing.T) {
	t.Parallel()
	f, installed := startOwn(t, fleet.Config{}, "--lease-duration=10s", "--renew-deadline=8s", "--retry-period=1s", "--probe-interval=1s")
	a := emptyArena(t, f, nameFor(t))
	eu := a.registerSecret("eu", shared.Member("eu"), nil)
	a.awaitReady("eu")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConvergedOn("web", 1)
	since := eu.cluster.Audit().End()

	refusedShardCount(a, installed)
	secondOfAName(a, installed)
	for name, spoil := range map[string]func(*arena){
		"all Leases are deleted":          deleteLeases,
		"the holder of a Lease is edited": editHolder,
	} {
		before := a.epoch("eu")
		spoil(a)
		a.eventually("it is owned again in a later epoch, after: "+name, func(g gomega.Gomega) {
			g.Expect(a.member(g, "eu").Status.Owner.Epoch).To(gomega.BeNumerically(">", before))
		})
		eu.delete("v1", "ConfigMap", "web")
		eu.expectGreeting("hello")
	}
	rightsTakenAway(a, eu)
	a.now("all writes were of the one manager, in epochs that grow", func(g gomega.Gomega) {
		events, _, err := eu.cluster.Audit().Events(since, fleet.Writes, eu.ours, fleet.ByUserAgent("syncline ("))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(events).NotTo(gomega.BeEmpty())
		last := ""
		for _, e := range events {
			g.Expect(e.UserAgent).To(gomega.HavePrefix("syncline (hub-0; epoch "))
			if len(e.UserAgent) == len(last) { // of as many digits
				g.Expect(e.UserAgent >= last).To(gomega.BeTrue(), "%s after %s", e.UserAgent, last)
			}
			last = e.UserAgent
		}
	})
}

// refusedShardCount: a manager with another number of shards ends, and says why.
func refusedShardCount(a *arena, installed *install.Installation) {
	replica, err := installed.StartReplicaWith(a.Context(), install.ReplicaOptions{Identity: "odd", Args: []string{"--shards=32"}})
	if err == nil {
		a.Fatal("a manager with another number of shards is healthy")
	}
	a.awaitLog(replica, shard.ErrShardCount.Error(), "this replica is set to 32", "says 64", "delete that Lease")
}

// secondOfAName: a manager under the name of another waits, and says why.
func secondOfAName(a *arena, installed *install.Installation) {
	ctx, cancel := context.WithTimeout(a.Context(), 8*time.Second)
	defer cancel()
	replica, err := installed.StartReplicaWith(ctx, install.ReplicaOptions{Identity: installed.Replicas[0].Identity})
	if err == nil {
		a.Error("two managers of one name are healthy")
	}
	a.awaitLog(replica, "another process has this replica's name", "give each replica an identity of its own")
	if err := replica.Kill(); err != nil {
		a.Fatal(err)
	}
}

// awaitLog waits until a manager's log says all of some texts.
func (a *arena) awaitLog(replica *install.Replica, texts ...string) {
	a.Helper()
	a.eventually("the log of "+replica.Identity+" says why", func(g gomega.Gomega) {
		log, err := os.ReadFile(replica.LogPath())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, text := range texts {
			g.Expect(string(log)).To(gomega.ContainSubstring(text))
		}
	})
}

func deleteLeases(a *arena) {
	err := a.hub.DeleteAllOf(a.Context(), &coordinationv1.Lease{}, client.InNamespace(install.Namespace), client.HasLabels{shard.LeaseLabel})
	if err != nil {
		a.Fatal(err)
	}
}

func editHolder(a *arena) {
	var leases coordinationv1.LeaseList
	if err := a.hub.List(a.Context(), &leases, client.InNamespace(install.Namespace), client.MatchingLabels{shard.LeaseLabel: "shard"}); err != nil {
		a.Fatal(err)
	}
	for i := range leases.Items {
		lease := &leases.Items[i]
		before := lease.DeepCopy()
		lease.Spec.HolderIdentity = ptr.To("somebody")
		if err := a.hub.Patch(a.Context(), lease, client.MergeFrom(before)); err != nil {
			a.Fatal(err)
		}
	}
}

// rightsTakenAway: a Role as an earlier version had it lets a manager lead, and own nothing.
// That is said on the members, and all goes on when the rights are back.
func rightsTakenAway(a *arena, eu *site) {
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: install.Namespace, Name: "syncline-manager"}}
	if err := a.hub.Get(a.Context(), client.ObjectKeyFromObject(role), role); err != nil {
		a.Fatal(err)
	}
	full := role.DeepCopy()
	role.Rules = []rbacv1.PolicyRule{
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"get", "update"}, ResourceNames: []string{"syncline-leader"}},
	}
	if err := a.hub.Update(a.Context(), role); err != nil {
		a.Fatal(err)
	}
	a.eventually("the member says that nobody owns it, and why", func(g gomega.Gomega) {
		status := a.member(g, "eu").Status
		ownerless := condition(status.Conditions, v1alpha1.ConditionOwnerless)
		g.Expect(ownerless.Status).To(gomega.Equal(metav1.ConditionTrue))
		g.Expect(ownerless.Message).To(gomega.And(gomega.ContainSubstring("forbidden"), gomega.ContainSubstring("hub-0")))
		g.Expect(condition(status.Conditions, v1alpha1.ConditionReady).Status).To(gomega.Equal(metav1.ConditionUnknown))
		g.Expect(isConverged(a.layer(g, "web"))).To(gomega.BeFalse())
	})
	since := eu.cluster.Audit().End()
	eu.delete("v1", "ConfigMap", "web")
	a.throughout(2*time.Second, "and nobody writes to it", func(g gomega.Gomega) {
		g.Expect(eu.writes(g, since, fleet.ByUserAgent("syncline ("), eu.ours)).To(gomega.BeEmpty())
	})
	full.ResourceVersion = role.ResourceVersion
	if err := a.hub.Update(a.Context(), full); err != nil {
		a.Fatal(err)
	}
	a.awaitReady("eu")
	eu.expectGreeting("hello")
	a.awaitConvergedOn("web", 1)
}
