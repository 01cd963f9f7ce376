package main

import (
	"strings"
	"testing"
)

// Two objects get the content "new" at 10 and 11, and the second is well at 20.
func rollout(later ...version) past {
	return past{
		"ConfigMap a": {{at: 1, content: "old", ours: true, well: true}, {at: 10, content: "new", ours: true, well: true}},
		"Widget b": append(history{
			{at: 2, content: "old", ours: true},
			{at: 3, content: "old", well: true},
			{at: 11, content: "new", ours: true},
			{at: 20, content: "new", well: true},
		}, later...),
	}
}

func TestJudge(t *testing.T) {
	vandalised := version{at: 30, content: "vandal"}
	mended := version{at: 40, content: "new", ours: true}
	healed := version{at: 50, content: "new", well: true}
	for name, test := range map[string]struct {
		past            past
		content         string
		sent, published uint64
		// lie is a part of what makes the verdict false; "" if it is true.
		lie string
	}{
		"true":                                  {rollout(), "new", 20, 21, ""},
		"before anything is written":            {rollout(), "new", 5, 6, `ConfigMap a has "old"`},
		"before all is written":                 {rollout(), "new", 10, 10, `Widget b has "old"`},
		"before the controller has seen it":     {rollout(), "new", 11, 19, "Widget b is not well"},
		"late, the next revision is there":      {rollout(version{at: 25, content: "newer", ours: true}), "new", 20, 60, ""},
		"late, it has drifted":                  {rollout(vandalised), "new", 20, 35, ""},
		"late, the drift is mended":             {rollout(vandalised, mended), "new", 35, 45, ""},
		"too soon after a drift was mended":     {rollout(vandalised, mended), "new", 40, 45, "Widget b is not well"},
		"mended and well":                       {rollout(vandalised, mended, healed), "new", 50, 55, ""},
		"became true on its way":                {rollout(), "new", 12, 30, ""},
		"of the former revision, late":          {rollout(), "old", 9, 30, ""},
		"of a revision that was never there":    {rollout(), "other", 30, 31, `has "new", not "other"`},
		"while an object is not there":          {past{"Widget b": nil}, "new", 30, 31, "Widget b is not there"},
		"after an object was deleted":           {rollout(version{at: 15}), "new", 14, 14, "is not well"},
		"while it is put back":                  {restored(), "new", 30, 31, "ConfigMap a is not there"},
		"when it is back":                       {restored(version{at: 40, content: "new", ours: true, well: true}), "new", 40, 41, ""},
		"without it, before it is gone":         {restored(), lacking("new", "ConfigMap a"), 20, 21, "ConfigMap a is still there"},
		"without it":                            {restored(), lacking("new", "ConfigMap a"), 30, 31, ""},
		"when each object was well, never both": {skewed(), "new", 20, 60, "Widget a"},
	} {
		t.Run(name, func(t *testing.T) {
			v := verdict{content: test.content, sent: test.sent, published: test.published}
			found, isFalse := test.past.judge(v)
			if isFalse != (test.lie != "") || !strings.Contains(found.because, test.lie) {
				t.Errorf("false: %t, because %q; want %q", isFalse, found.because, test.lie)
			}
		})
	}
}

// restored is a roll-out after which we have taken one object away at 25.
func restored(later ...version) past {
	p := rollout()
	p["ConfigMap a"] = append(append(p["ConfigMap a"], version{at: 25, ours: true}), later...)
	return p
}

// skewed has two objects of which one has drifted by the time that the other is well.
func skewed() past {
	return past{
		"Widget a": {{at: 10, content: "new", ours: true}, {at: 12, content: "new", well: true}, {at: 13, content: "vandal"}},
		"Widget b": {{at: 11, content: "new", ours: true}, {at: 20, content: "new", well: true}},
	}
}
