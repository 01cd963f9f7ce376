package live

import (
	"strings"
	"testing"
	"time"

	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/test/fleet"
)

// F10: a member that is stopped is unknown within 20 s, and known again within 15 s; its
// watches go on.
func TestAFrozenMember(t *testing.T) {
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	f.watch(configMaps)
	before := f.member.Reachability()

	if err := f.cluster.Freeze(); err != nil {
		t.Fatal(err)
	}
	frozen := true
	thaw := func() {
		if frozen {
			frozen = false
			if err := f.cluster.Thaw(); err != nil {
				t.Error(err)
			}
		}
	}
	defer thaw()
	f.within(20*time.Second, "unreachable", func() bool { return !f.member.Reachability().Reachable })
	r := f.member.Reachability()
	if !strings.Contains(r.Err, "does not answer in time") || r.UID != before.UID || r.LastSeen.IsZero() {
		t.Errorf("got %+v", r)
	}
	start := time.Now()
	_, err := f.member.Apply(t.Context(), settings(namespace, "settings", "ours"))
	if member.Classify(err).Reason != member.ReasonUnreachable || time.Since(start) > time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}

	thaw()
	f.within(15*time.Second, "reachable", func() bool { return f.member.Reachability().Reachable })
	if r := f.member.Reachability(); r.Version == "" || r.UID != before.UID || r.Err != "" {
		t.Errorf("got %+v", r)
	}
	u := settings(namespace, "settings", "ours")
	applied := f.apply(u)
	patched(f, u, `{"data":{"key":"theirs"}}`)
	f.within(15*time.Second, "seen as drift", func() bool { return f.seen(applied.ID).Owned != applied.Owned })
}

// F3: credentials are rotated under a watch: it resumes as another user, and nothing is
// listed again.
func TestARotationResumesWatches(t *testing.T) {
	f := connect(t)
	namespace := f.cluster.Namespace(t)
	f.watch(configMaps)
	u := settings(namespace, "settings", "ours")
	applied := f.apply(u)
	time.Sleep(1100 * time.Millisecond) // a Reflector lists anew if a watch ends in its first second, without an event

	since := f.cluster.Audit().End()
	f.connectAs("second")
	patched(f, u, `{"data":{"key":"theirs"}}`)
	f.within(patience, "seen as drift", func() bool { return f.seen(applied.ID).Owned != applied.Owned })

	f.provider.Disconnect(memberKey) // a watch is logged when it ends
	f.within(patience, "logged as watching", func() (watched bool) {
		events, _, err := f.cluster.Audit().Events(since, fleet.ByUser("second"))
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			if event.ObjectRef == nil || event.ObjectRef.Resource != "configmaps" {
				continue
			}
			if event.Verb == "list" || strings.Contains(event.RequestURI, "sendInitialEvents") {
				t.Fatalf("listed again: %s", event.RequestURI)
			}
			watched = watched || event.Verb == "watch"
		}
		return watched
	})
}
