package live

import (
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/test/fleet"
)

// A server is restored from a backup, and its versions go back. From the moment at which it
// is reachable again, what is said to be seen is what is there.
func TestARestoredServerIsSeenAsItIs(t *testing.T) {
	cluster, err := shared.AddMember(t.Context(), fleet.Member{Name: "restored", OwnEtcd: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.RemoveMember(cluster); err != nil {
			t.Error(err)
		}
	})
	f := connectTo(t, cluster)
	f.watch(configMaps)
	before := f.apply(settings("default", "settings", "before"))
	if err := cluster.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}

	f.within(20*time.Second, "in sight again", f.inSight)
	var after member.Applied
	for n := range 300 { // the versions run ahead of all that a restart costs
		after = f.apply(settings("default", "settings", strconv.Itoa(n)))
	}
	later := f.apply(settings("default", "later", ""))
	f.within(patience, "seen", func() bool { return f.seen(later.ID).Owned != "" })
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	f.within(20*time.Second, "unreachable", func() bool { return !f.member.Reachability().Reachable })
	if err := cluster.RestoreBackup(t.Context()); err != nil {
		t.Fatal(err)
	}

	begin := time.Now()
	f.within(30*time.Second, "seen as it is", func() bool {
		if !f.inSight() {
			return false
		}
		if owned := f.seen(before.ID).Owned; owned != before.Owned || f.seen(later.ID).UID != "" {
			t.Fatalf("what was seen before the restore counts: %s, %s of old", owned, after.Owned)
		}
		return true
	})
	t.Logf("seen as it is %s after it was ready", time.Since(begin))
	if version(t, f.seen(before.ID).ResourceVersion) >= version(t, after.ResourceVersion) {
		t.Error("the versions did not go back: the test shows nothing")
	}
	again := f.apply(settings("default", "settings", "again"))
	f.within(patience, "seen", func() bool { return f.seen(again.ID).ResourceVersion == again.ResourceVersion })
	if err := f.admin().Delete(t.Context(), settings("default", "settings", "")); err != nil {
		t.Fatal(err)
	}
	f.within(patience, "seen as gone", func() bool { return f.seen(again.ID).UID == "" })
	expectNoViolations(t)
}

// inSight says whether what was seen of ConfigMaps is said to be what there is.
func (f *fixture) inSight() bool {
	kind := configMaps.GroupKind()
	return f.member.Reachability().Reachable && f.member.WatchProblem(kind) == nil && f.member.Synced(kind)
}

func version(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// expectNoViolations checks that no watch of this process contradicted itself.
func expectNoViolations(t *testing.T) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "syncline_member_continuity_violations_total" && len(family.GetMetric()) > 0 {
			t.Errorf("violations: %v", family)
		}
	}
}
