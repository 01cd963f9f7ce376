package e2e

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

// addMember adds a cluster of the test's own to the shared fleet.
func addMember(t *testing.T, member fleet.Member) *fleet.Cluster {
	t.Helper()
	cluster, err := shared.AddMember(t.Context(), member)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.RemoveMember(cluster); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// A member's API server is restored from a backup: its versions go back, and with them what
// layers put there since. Nothing that was seen before counts, and the layers are applied
// again.
func TestMemberRestoredFromABackupIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	cluster := addMember(t, fleet.Member{Name: "restored", OwnEtcd: true})
	a := newArena(t, "restored")
	member := a.site("restored")
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")
	if err := cluster.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}

	a.awaitReady("restored")
	a.apply(besideWeb, "$GREETING", "good morning", "$MORE", other+"\n  - "+replaced(other, "name: other", "name: another"))
	member.expectGreeting("good morning")
	a.awaitConverged("web")
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	a.eventually("the member is out of sight", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "restored").Status.State).To(gomega.Equal(v1alpha1.StateUnknown))
	})
	since := cluster.Audit().End()
	if err := cluster.RestoreBackup(t.Context()); err != nil {
		t.Fatal(err)
	}

	a.eventually("the layer has converged again", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "restored").Status.State).To(gomega.Equal(v1alpha1.StateConverged))
		// Green from the past would be a verdict for good.
		if member.data(gomega.NewWithT(t), "web")["greeting"] != "good morning" {
			t.Fatalf("it counts as converged and is as it was at the backup\n%s", a.story())
		}
		member.object(g, "v1", "ConfigMap", "another")
	})
	a.awaitReady("restored")
	a.awaitConverged("web")
	a.now("nothing was deleted, and no watch contradicted itself", func(g gomega.Gomega) {
		g.Expect(member.deletes(g, since)).To(gomega.BeEmpty())
		for _, replica := range running() {
			metrics, err := replica.Metrics(t.Context())
			g.Expect(err).NotTo(gomega.HaveOccurred())
			for line := range strings.Lines(metrics) {
				g.Expect(line).NotTo(gomega.HavePrefix("syncline_member_continuity_violations_total"), replica.Identity)
			}
		}
	})
	if lines := a.logged("gone back to an earlier state", a.namespace+"/restored"); len(lines) == 0 {
		t.Error("the managers' logs do not tell of it")
	}
}
