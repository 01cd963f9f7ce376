package live

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/fleet"
)

// usage is what this process holds.
type usage struct {
	goroutines, files int
	heap              uint64
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	u := usage{goroutines: runtime.NumGoroutine(), heap: stats.HeapAlloc}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil { // elsewhere than on Linux connections are not counted
		u.files = len(open)
	}
	return u
}

// settlesAt waits until the process holds no more than before, but for half a megabyte.
// HTTP/2 keeps what it had of a connection for up to 20 s after that was closed.
func (f *fixture) settlesAt(before usage) (after usage) {
	f.Helper()
	f.within(30*time.Second, fmt.Sprintf("back at %+v", before), func() bool {
		after = measure(f.T)
		return after.goroutines <= before.goroutines && after.files <= before.files && after.heap <= before.heap+1<<19
	})
	return after
}

// A member that leaves takes along its goroutines, connections and memory.
func TestMembersComeAndGoWithoutATrace(t *testing.T) {
	const times = 20
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	stay := func() {
		f.connectAs("first")
		f.member.SetPaused(false)
		f.within(patience, "reachable", func() bool { return f.member.Reachability().Reachable })
		f.watch(configMaps, deployments)
		f.apply(settings(namespace, "settings", "ours"))
		f.provider.Disconnect(memberKey)
		f.member = nil
	}
	f.provider.Disconnect(memberKey)
	stay()
	before := measure(t)
	for range times {
		stay()
	}
	t.Logf("%+v before, %+v after %d stays", before, f.settlesAt(before), times)
}

// Rotations one after another leave nothing behind, and no watch is listed again.
func TestRotationsLeaveNothingBehind(t *testing.T) {
	const times = 50
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	theirs := map[*unstructured.Unstructured]string{
		settings(namespace, "settings", "ours"): `{"data":{"key":"theirs"}}`,
		deployment(namespace, "web"):            `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`,
	}
	f.watch(configMaps, deployments)
	admin := f.admin()
	settle := func(user string) {
		f.connectAs(user)
		for u, patch := range theirs {
			applied := f.apply(u)
			if err := admin.Patch(t.Context(), u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				t.Fatal(err)
			}
			f.within(patience, "seen as drift by "+user, func() bool { return f.seen(applied.ID).Owned != applied.Owned })
		}
	}
	settle("rotated")
	since, before := f.cluster.Audit().End(), measure(t)
	begin := time.Now()
	for i := range times {
		f.connectAs(fmt.Sprintf("rotated-%d", i))
	}
	t.Logf("%d rotations took %s", times, time.Since(begin))
	settle("last")
	t.Logf("%+v before, %+v after", before, f.settlesAt(before))

	f.provider.Disconnect(memberKey) // a watch is logged when it ends
	f.within(patience, "logged as watching", func() bool {
		events, _, err := f.cluster.Audit().Events(since, fleet.ByUser("last"), watches)
		return err == nil && len(events) >= 2
	})
	lists, _, err := f.cluster.Audit().Events(since, fleet.ByUserAgent("syncline"), listsAgain)
	if err != nil || len(lists) > 0 {
		t.Errorf("listed %d times: %v", len(lists), err)
	}
}

func watches(e *auditv1.Event) bool { return e.Verb == "watch" }

// listsAgain passes lists, and watches that begin with one.
func listsAgain(e *auditv1.Event) bool {
	return e.Verb == "list" || strings.Contains(e.RequestURI, "sendInitialEvents")
}
