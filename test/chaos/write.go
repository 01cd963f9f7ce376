package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// write is one request to a member that could have changed something, as the member's audit
// log has it.
type write struct {
	// replica and epoch are what its User-Agent says; "" and 0 if that names no epoch.
	replica string
	epoch   int
	// received is when the API server had the head of the request, ended when it had answered.
	// Whatever the write has done, it has done in between.
	received, ended time.Time
	// hollow is a write whose body the server has not read. It has changed nothing, although it
	// has an entry: the head of a request may be on its way for as long as its sender is stopped.
	hollow bool
	what   string
}

// userAgent is that of a write. Reads have no epoch.
var userAgent = regexp.MustCompile(`^syncline(?:/\S+)? \((.+); epoch ([0-9]{1,9})\)$`)

// needBody are the verbs of writes that cannot do anything without a body.
var needBody = []string{"create", "update", "patch"}

// writeOf reads an event of an audit log that has bodies; see fleet.Config.
func writeOf(e *auditv1.Event) write {
	w := write{
		received: e.RequestReceivedTimestamp.Time,
		ended:    e.StageTimestamp.Time,
		hollow:   e.RequestObject == nil && slices.Contains(needBody, e.Verb),
		what:     fmt.Sprintf("%s %s by %q", e.Verb, e.RequestURI, e.UserAgent),
	}
	if e.ResponseStatus != nil {
		w.what += fmt.Sprintf(", answered %d", e.ResponseStatus.Code)
	}
	if match := userAgent.FindStringSubmatch(e.UserAgent); match != nil {
		w.replica = match[1]
		w.epoch, _ = strconv.Atoi(match[2]) // it is a number
	}
	return w
}

func (w write) String() string {
	return fmt.Sprintf("%s, received %s, ended %s", w.what, clock(w.received), clock(w.ended))
}

// clock is a time as logs on this machine have it.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.000000") }
