package member

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const configMapWatch = "GET /api/v1/configmaps"

// streams answers watches with streams that the test writes.
type streams struct {
	mu   sync.Mutex
	open []*io.PipeWriter
}

func (s *streams) answer(*http.Request) (int, any) {
	reader, writer := io.Pipe()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, writer)
	return 200, reader
}

// last is the newest stream.
func (s *streams) last() *io.PipeWriter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[len(s.open)-1]
}

func (s *streams) send(t *testing.T, kind string, u *unstructured.Unstructured) {
	t.Helper()
	if err := json.NewEncoder(s.last()).Encode(map[string]any{"type": kind, "object": u.Object}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func bookmark(version string, first bool) *unstructured.Unstructured {
	u := configMap("", version)
	if first {
		u.SetAnnotations(map[string]string{"k8s.io/initial-events-end": "true"})
	}
	return u
}

// watching returns a member whose first list, {a}, is in at version 10.
func watching(t *testing.T) (*fakeAPI, *streams, *Member, *atomic.Int32) {
	t.Helper()
	f, s, notified := newFakeAPI(), &streams{}, &atomic.Int32{}
	f.handle(configMapWatch, s.answer)
	m := newTestMember(t, f, func(c *Config) { c.Notify = func() { notified.Add(1) } })
	m.Observe(configMapKind)
	start(t, m)
	s.send(t, "ADDED", configMap("a", "7"))
	if m.Synced(configMaps) {
		t.Error("synced before the first list has ended")
	}
	s.send(t, "BOOKMARK", bookmark("10", true))
	if _, found := m.Seen(idOf("a")); !found || !m.Synced(configMaps) {
		t.Fatal("the first list is not in")
	}
	notified.Store(0)
	return f, s, m, notified
}

func TestAWatchSelectsWhatIsOursAndTellsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, notified := watching(t)
		if got := f.calls(configMapWatch)[0].URL.Query().Get("labelSelector"); got != "syncline.dev/hub=hub-1" {
			t.Errorf("selects %q", got)
		}
		s.send(t, "MODIFIED", configMap("a", "11"))
		if o, _ := m.Seen(idOf("a")); o.ResourceVersion != "11" || notified.Load() != 0 {
			t.Errorf("got %+v, and %d notifications of what means nothing", o, notified.Load())
		}
		s.send(t, "ADDED", configMap("b", "12"))
		s.send(t, "DELETED", configMap("a", "13"))
		if _, found := m.Seen(idOf("a")); found || notified.Load() != 2 {
			t.Errorf("found %v, %d notifications, want 2", found, notified.Load())
		}
	})
}

// A member that was away for an hour: the watch goes on from the last version it saw.
func TestAWatchResumesWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, notified := watching(t)
		s.send(t, "BOOKMARK", bookmark("20", false))
		time.Sleep(time.Minute)
		f.fail(syscall.ECONNREFUSED)
		s.last().CloseWithError(io.EOF)
		within(t, 5*time.Second, "reported", func() bool { return m.WatchProblem(configMaps) != nil })
		if err := m.WatchProblem(configMaps); Classify(err).Reason != ReasonUnreachable {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Hour)
		changes := notified.Load()
		if changes > 3 { // the problem, and the member's reachability
			t.Errorf("%d notifications of one outage", changes)
		}
		before := len(f.calls(configMapWatch))
		f.fail(nil)
		within(t, 16*time.Second, "watched again", func() bool { return m.WatchProblem(configMaps) == nil })
		query := f.calls(configMapWatch)[before].URL.Query()
		if query.Get("resourceVersion") != "20" || query.Has("sendInitialEvents") {
			t.Errorf("resumed with %v", query)
		}
		if _, found := m.Seen(idOf("a")); !found {
			t.Error("what was seen is forgotten")
		}
	})
}

func TestAnExpiredVersionIsListedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, _ := watching(t)
		var gone atomic.Int32
		f.handle(configMapWatch, func(req *http.Request) (int, any) {
			if gone.Add(1) == 1 {
				return http.StatusGone, status(http.StatusGone, "Expired", "too old resource version", nil)
			}
			return s.answer(req)
		})
		time.Sleep(time.Minute)
		s.last().CloseWithError(io.EOF)
		time.Sleep(10 * time.Second)
		s.send(t, "ADDED", configMap("b", "50"))
		if _, found := m.Seen(idOf("a")); !found {
			t.Error("an object was dropped before the new list has ended")
		}
		s.send(t, "BOOKMARK", bookmark("60", true))
		_, a := m.Seen(idOf("a"))
		_, b := m.Seen(idOf("b"))
		if a || !b {
			t.Errorf("a is known: %v, b: %v", a, b)
		}
	})
}

// F22: a kind that cannot be watched affects itself alone, and is watched when it can be.
func TestAKindThatIsNotServedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, notified := watching(t)
		m.Observe(configMapKind, widgetKind)
		within(t, time.Second, "reported", func() bool { return m.WatchProblem(widgetKind.GroupKind()) != nil })
		if err := m.WatchProblem(widgetKind.GroupKind()); Classify(err).Reason != ReasonKindNotServed {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Hour)
		if n := notified.Load(); n != 1 {
			t.Errorf("%d notifications in an hour of waiting", n)
		}
		s.send(t, "ADDED", configMap("b", "99"))
		if _, found := m.Seen(idOf("b")); !found {
			t.Error("another kind does not work")
		}
		widgets := &streams{}
		f.on("GET /apis/example.com/v1", 200, resources("example.com/v1", resourceOf("widgets", "Widget", true)))
		f.handle("GET /apis/example.com/v1/widgets", widgets.answer)
		m.observed(definitionKind)
		within(t, 100*time.Millisecond, "watched", func() bool { return len(f.calls("GET /apis/example.com/v1/widgets")) > 0 })
		widgets.send(t, "BOOKMARK", bookmark("100", true))
		if err := m.WatchProblem(widgetKind.GroupKind()); err != nil || !m.Synced(widgetKind.GroupKind()) {
			t.Errorf("the list is in, and the problem is %v", err)
		}
	})
}

func TestObserveStopsWhatIsNotWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, m, _ := watching(t)
		m.Observe(configMapKind)
		synctest.Wait()
		if n := len(f.calls(configMapWatch)); n != 1 {
			t.Errorf("%d watches of one kind", n)
		}
		m.Observe()
		synctest.Wait()
		if _, found := m.Seen(idOf("a")); found || m.Synced(configMaps) {
			t.Error("the kind is still known")
		}
	})
}
