package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// version is what an object was from one resourceVersion on, until its next.
type version struct {
	at uint64
	// content tells revisions apart; "" of an object that is not there.
	content string
	// ours says that Syncline gave the object this content now.
	ours bool
	// well says that its controller has seen the content and finds nothing wrong.
	well bool
}

// history is all that one object was, the oldest first.
type history []version

// at is what the object was at a moment.
func (h history) at(moment uint64) version {
	for _, v := range slices.Backward(h) {
		if v.at <= moment {
			return v
		}
	}
	return version{}
}

// past is the history of each object that a layer has on a member, also of those that have
// never been there.
type past map[string]history

// verdict is the statement that a layer has converged on a member.
type verdict struct {
	place
	// revision that it names, and what that has for content.
	revision, content string
	// sent is the newest change on the members when it left the manager; published is its own
	// resourceVersion.
	sent, published uint64
}

// place is a layer on a member.
type place struct{ member, layer string }

// lie is a false verdict.
type lie struct {
	verdict
	// because names an object that was not so when the verdict was published.
	because string
	// story is what befell the layer's objects in the interval in which the verdict was not so.
	story string
}

// String is one line.
func (l lie) String() string {
	return fmt.Sprintf("%s on %s was said to have converged in %s at %d: %s", l.layer, l.member, l.revision, l.published, l.because)
}

// judge says whether a verdict is false; doc.go says what that means.
func (p past) judge(v verdict) (lie, bool) {
	written := p.written(v)
	for _, moment := range p.moments(written, v.published) {
		if p.wanting(moment, v.content) == "" {
			return lie{}, false
		}
	}
	return lie{v, p.wanting(v.published, v.content), p.story(written, v.published)}, true
}

// written is when Syncline last gave an object what the verdict claims, or took one away; 0 for
// never.
func (p past) written(v verdict) uint64 {
	var last uint64
	for name, h := range p {
		for _, known := range h {
			if known.ours && known.at <= v.sent && (known.content == "" || known.content == expected(v.content, name)) {
				last = max(last, known.at)
			}
		}
	}
	return last
}

// moments are those at which something may have become so: the first, and each change until
// the last.
func (p past) moments(first, last uint64) []uint64 {
	all := []uint64{first}
	for _, h := range p {
		for _, known := range h {
			if known.at > first && known.at <= last {
				all = append(all, known.at)
			}
		}
	}
	return all
}

// wanting says what keeps the objects at a moment from being wholly as they should be; "" if
// nothing does.
func (p past) wanting(moment uint64, content string) string {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch v, want := p[name].at(moment), expected(content, name); {
		case v.content == "" && want == "":
		case v.content == "":
			return name + " is not there"
		case want == "":
			return name + " is still there"
		case v.content != want:
			return fmt.Sprintf("%s has %q, not %q", name, v.content, want)
		case !v.well:
			return name + " is not well, or its controller has not seen it"
		}
	}
	return ""
}

// story tells all versions of an interval in the order in which they came.
func (p past) story(first, last uint64) string {
	type event struct {
		version
		name string
	}
	var all []event
	for name, h := range p {
		for _, known := range h {
			if known.at >= first && known.at <= last {
				all = append(all, event{known, name})
			}
		}
	}
	slices.SortFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	for _, e := range all {
		fmt.Fprintf(&text, "  %d %s: content %q, by us %t, well %t\n", e.at, e.name, e.content, e.ours, e.well)
	}
	return text.String()
}
