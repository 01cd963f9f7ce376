package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// at is a time of a history, in milliseconds from its beginning.
func at(ms int) time.Time { return time.UnixMilli(int64(ms)) }

// writesFrom reads writes such as "a/1 10-20, b/2 30-40 hollow": in epoch 1 the replica a has
// written from 10 to 20. What has no epoch is "a/0".
func writesFrom(t *testing.T, text string) []write {
	t.Helper()
	var writes []write
	for _, one := range split(text) {
		var w write
		var from, to int
		w.what, w.hollow = one, strings.HasSuffix(one, " hollow")
		scan(t, strings.TrimSuffix(one, " hollow"), &w.replica, &w.epoch, &from, &to)
		w.received, w.ended = at(from), at(to)
		writes = append(writes, w)
	}
	return writes
}

// tenuresFrom reads tenures such as "a/1 0-25": released at 25.
func tenuresFrom(t *testing.T, text string) []*tenure {
	t.Helper()
	var tenures []*tenure
	for _, one := range split(text) {
		tenure := &tenure{}
		var from, to int
		scan(t, one, &tenure.replica, &tenure.epoch, &from, &to)
		tenure.began, tenure.renewed, tenure.released = at(from), at(from), at(to)
		tenures = append(tenures, tenure)
	}
	return tenures
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

func scan(t *testing.T, text string, replica *string, epoch, from, to *int) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.Replace(text, "/", " ", 1), "%s %d %d-%d", replica, epoch, from, to); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

// expect holds violations against what is wanted of each, in order.
func expect(t *testing.T, found []violation, want ...string) {
	t.Helper()
	for i, v := range found {
		if i >= len(want) || !strings.Contains(v.what, want[i]) {
			t.Errorf("unexpected: %s", v.what)
		}
	}
	if len(found) != len(want) {
		t.Errorf("got %d violations, want %q", len(found), want)
	}
}

func TestOneWriter(t *testing.T) {
	for name, tc := range map[string]struct {
		writes string
		want   []string
	}{
		"nothing":                       {"", nil},
		"one after another":             {"a/1 10-20, a/1 15-30, b/2 30-40, a/5 45-50", nil},
		"logged in another order":       {"b/2 30-40, a/1 15-28, a/1 10-20", nil},
		"a head alone comes late":       {"a/1 10-20, b/2 30-40, a/1 50-60 hollow", nil},
		"a head alone stays open":       {"a/1 10-80 hollow, b/2 30-40", nil},
		"no epoch":                      {"a/1 10-20, x/0 30-40", []string{"no epoch"}},
		"no epoch, and no body":         {"x/0 30-40 hollow", []string{"no epoch"}},
		"two replicas in one epoch":     {"a/1 10-20, b/1 30-40", []string{"a has written in the same epoch"}},
		"one of them with no body":      {"a/1 10-20, b/1 30-40 hollow", []string{"a has written in the same epoch"}},
		"epochs go back":                {"a/1 10-20, b/2 30-40, a/1 50-60", []string{"a/1 50-60, received 00:00:00.050000, ended 00:00:00.060000: epochs go back: before it came b/2 30-40"}},
		"epochs go back twice":          {"b/2 20-30, a/1 40-50, a/1 60-70", []string{"go back", "go back"}},
		"back during the other":         {"a/1 10-20, b/2 30-60, a/1 40-50", []string{"go back"}},
		"a new epoch during an old one": {"a/1 10-40, b/2 30-50, b/2 60-70", []string{"b/2 30-50, received 00:00:00.030000, ended 00:00:00.050000: another was under way: a/1 10-40"}},
		"the long one is not the last":  {"a/1 10-40, a/1 12-13, b/2 30-50", []string{"under way: a/1 10-40"}},
		"all during a long one":         {"a/1 10-90, b/2 30-50, b/2 60-70", []string{"under way", "under way"}},
		"two epochs later":              {"a/1 10-90, b/2 95-98, c/3 99-105, a/4 100-110", []string{"under way: c/3"}},
	} {
		t.Run(name, func(t *testing.T) { expect(t, oneWriter(writesFrom(t, tc.writes)), tc.want...) })
	}
}

func TestWithinTenures(t *testing.T) {
	const tenures = "a/5 210-300, a/1 0-100, b/2 110-200"
	for name, tc := range map[string]struct {
		writes string
		want   []string
	}{
		"each in its time":                  {"a/1 10-100, b/2 110-120, a/5 220-300", nil},
		"a head alone comes late":           {"a/1 150-160 hollow", nil},
		"an epoch that nobody had":          {"b/3 120-130", []string{"no replica has had"}},
		"another's epoch":                   {"b/1 10-20", []string{"that of a"}},
		"before it owned":                   {"b/2 105-115", []string{"began at"}},
		"while nobody owned":                {"a/1 102-103", []string{"nobody owned"}},
		"after the last tenure":             {"a/5 301-302", []string{"nobody owned"}},
		"late, and the owner wrote nothing": {"a/1 10-20, a/1 150-160", []string{"nobody owned"}},
		"not yet answered when others own":  {"a/1 90-115", []string{"b set out to own"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, withinTenures(writesFrom(t, tc.writes), tenuresFrom(t, tenures)), tc.want...)
		})
	}
}

func TestTenureThatIsNotReleasedLastsAsTheLeaseSays(t *testing.T) {
	tenures := []*tenure{{replica: "a", epoch: 1, began: at(0), renewed: at(1000), lasts: 500 * time.Millisecond}}
	expect(t, withinTenures(writesFrom(t, "a/1 1499-1501"), tenures))
	expect(t, withinTenures(writesFrom(t, "a/1 1501-1502"), tenures), "nobody owned")
}

func TestWriteOfAuditEvent(t *testing.T) {
	body := &runtime.Unknown{Raw: []byte("{}")}
	for name, tc := range map[string]struct {
		event auditv1.Event
		want  write
	}{
		"a write":              {auditv1.Event{Verb: "patch", UserAgent: "syncline (hub-0; epoch 12)", RequestObject: body}, write{replica: "hub-0", epoch: 12}},
		"a name with all":      {auditv1.Event{Verb: "patch", UserAgent: "syncline (a (b; c); epoch 3)", RequestObject: body}, write{replica: "a (b; c)", epoch: 3}},
		"without a body":       {auditv1.Event{Verb: "create", UserAgent: "syncline (hub-0; epoch 12)"}, write{replica: "hub-0", epoch: 12, hollow: true}},
		"that needs no body":   {auditv1.Event{Verb: "delete", UserAgent: "syncline (hub-0; epoch 12)"}, write{replica: "hub-0", epoch: 12}},
		"without an epoch":     {auditv1.Event{Verb: "patch", UserAgent: "syncline (hub-0)", RequestObject: body}, write{}},
		"with more behind":     {auditv1.Event{Verb: "patch", UserAgent: "syncline (hub-0; epoch 12) x", RequestObject: body}, write{}},
		"by another program":   {auditv1.Event{Verb: "patch", UserAgent: "kubectl (hub-0; epoch 12)", RequestObject: body}, write{}},
		"with too large a one": {auditv1.Event{Verb: "patch", UserAgent: "syncline (a; epoch 99999999999999999999)", RequestObject: body}, write{}},
	} {
		tc.event.RequestReceivedTimestamp = metav1.NewMicroTime(at(1))
		tc.event.StageTimestamp = metav1.NewMicroTime(at(2))
		got := writeOf(&tc.event)
		if got.replica != tc.want.replica || got.epoch != tc.want.epoch || got.hollow != tc.want.hollow {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
		if !got.received.Equal(at(1)) || !got.ended.Equal(at(2)) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
