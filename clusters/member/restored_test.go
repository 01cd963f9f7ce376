package member

import (
	"io"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
)

const absentConfigMap = "GET /api/v1/namespaces/default/configmaps/" + absent

// behind makes the API server say that it does not know of a version yet.
func behind(f *fakeAPI) {
	f.on(absentConfigMap, http.StatusGatewayTimeout, status(http.StatusGatewayTimeout, "Timeout", "Too large resource version: 20, current: 12",
		map[string]any{"causes": []any{map[string]any{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}}}))
}

// listsAt makes it answer lists as of a version, and first streams and resumed watches by
// streams.
func listsAt(f *fakeAPI, s *streams, version string) {
	f.handle(configMapWatch, func(req *http.Request) (int, any) {
		if req.URL.Query().Has("watch") {
			return s.answer(req)
		}
		return 200, map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": version}, "items": []any{}}
	})
}

// cut ends the newest stream after it has lasted a while.
func cut(s *streams) {
	time.Sleep(time.Minute)
	s.last().CloseWithError(io.EOF)
	time.Sleep(time.Second)
	synctest.Wait()
}

func lastQuery(f *fakeAPI) (version string, first bool) {
	calls := f.calls(configMapWatch)
	query := calls[len(calls)-1].URL.Query()
	return query.Get("resourceVersion"), query.Has("sendInitialEvents")
}

// A server that was restored from a backup grants a watch from a version that it has yet to
// reach, and says nothing. What was seen before does not count from then on.
func TestAServerThatWentBackIsWatchedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, _ := watching(t)
		s.send(t, "BOOKMARK", bookmark("20", false))
		behind(f)
		listsAt(f, s, "12")
		cut(s)
		if _, found := m.Seen(idOf("a")); found || m.Synced(configMaps) || m.WatchProblem(configMaps) == nil {
			t.Error("what was seen before the restore still counts")
		}
		if version, first := lastQuery(f); version != "" || !first {
			t.Errorf("watched from version %q", version)
		}
		s.send(t, "ADDED", configMap("b", "8"))
		s.send(t, "BOOKMARK", bookmark("12", true))
		if _, found := m.Seen(idOf("b")); !found || !m.Synced(configMaps) || m.WatchProblem(configMaps) != nil {
			t.Errorf("found %v, problem %v", found, m.WatchProblem(configMaps))
		}
	})
}

// One of several API servers is late. It is no server that went back.
func TestALateServerIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, _ := watching(t)
		s.send(t, "BOOKMARK", bookmark("20", false))
		behind(f)
		listsAt(f, s, "21")
		cut(s)
		if version, first := lastQuery(f); version != "20" || first {
			t.Errorf("watched from version %q", version)
		}
		if _, found := m.Seen(idOf("a")); !found {
			t.Error("what was seen is forgotten")
		}
	})
}

// violations is how often ConfigMaps' watches broke a rule.
func violations(t *testing.T, broken rule) float64 {
	t.Helper()
	var metric dto.Metric
	if err := continuityViolations.WithLabelValues("ConfigMap", string(broken)).Write(&metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetCounter().GetValue()
}

func TestAWatchThatContradictsItselfBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, _ := watching(t)
		before := violations(t, ruleBookmarkOrder)
		s.send(t, "BOOKMARK", bookmark("9", false))
		if _, found := m.Seen(idOf("a")); found || m.Synced(configMaps) || m.WatchProblem(configMaps) == nil {
			t.Error("it is believed")
		}
		if got := violations(t, ruleBookmarkOrder); got != before+1 {
			t.Errorf("%v violations, %v before", got, before)
		}
		within(t, 5*time.Second, "watched anew", func() bool { return len(f.calls(configMapWatch)) > 1 })
		s.send(t, "BOOKMARK", bookmark("9", true))
		if _, first := lastQuery(f); !first || !m.Synced(configMaps) || m.WatchProblem(configMaps) != nil {
			t.Errorf("did not begin anew: %v", m.WatchProblem(configMaps))
		}
	})
}

// Of a member that was out of sight, what was seen is in doubt until the watch has told what
// happened meanwhile.
func TestWhatWasSeenIsInDoubtUntilTheWatchHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, _ := watching(t)
		time.Sleep(time.Minute)
		f.fail(syscall.ECONNREFUSED) // and the watch's connection stays
		within(t, 20*time.Second, "unreachable", func() bool { return !m.Reachability().Reachable })
		synctest.Wait()
		if m.WatchProblem(configMaps) == nil {
			t.Error("what was seen is not in doubt")
		}
		f.fail(nil)
		within(t, 15*time.Second, "reachable", func() bool { return m.Reachability().Reachable })
		if m.WatchProblem(configMaps) == nil {
			t.Error("what was seen counts before the watch is there again")
		}
		within(t, time.Second, "resumed", func() bool { version, first := lastQuery(f); return version == "10" && !first })
		s.send(t, "MODIFIED", configMap("a", "15"))
		if m.WatchProblem(configMaps) == nil {
			t.Error("what was seen counts while there is more to tell")
		}
		within(t, 2*time.Second, "caught up", func() bool { return m.WatchProblem(configMaps) == nil })
		if o, _ := m.Seen(idOf("a")); o.ResourceVersion != "15" {
			t.Errorf("seen at %s", o.ResourceVersion)
		}
	})
}

// Streams that end as soon as they begin, as in one rotation after another, are resumed.
func TestShortStreamsAreNotListedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, m, _ := watching(t)
		for range 10 {
			before := len(f.calls(configMapWatch))
			s.last().CloseWithError(io.EOF)
			within(t, 10*time.Second, "resumed", func() bool { return len(f.calls(configMapWatch)) > before })
		}
		for _, call := range f.calls(configMapWatch)[1:] {
			if query := call.URL.Query(); query.Get("resourceVersion") != "10" || query.Has("sendInitialEvents") {
				t.Errorf("watched again with %v", query)
			}
		}
		if _, found := m.Seen(idOf("a")); !found {
			t.Error("what was seen is forgotten")
		}
	})
}
