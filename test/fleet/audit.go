package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy logs, when they are answered, all writes of everybody and all
// requests of clients that are not part of the cluster itself. A watch is logged
// when it ends. Bodies are not logged, but for those that Config.AuditBodies asks for.
func auditPolicy(bodies bool) string {
	policy := `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  nonResourceURLs: ["/readyz*", "/livez*", "/healthz*"]
- level: None
  users: ["system:apiserver", "` + userControllerManager + `", "` + userScheduler + `", "` + userKwok + `"]
  verbs: [get, list, watch]
`
	if bodies {
		policy += `- level: Request
  users: ["` + UserClusterAPI + `"]
  verbs: [create, update, patch, delete, deletecollection]
`
	}
	return policy + `- level: Metadata
`
}

// AuditLog reads the audit log of one API server. It outlives Restart and
// Recreate. The server writes an event before the next one of the same
// connection, but the answer may be seen a moment earlier: whoever waits for an
// event should look more than once.
type AuditLog struct {
	path string
}

// AuditOffset is a position in an audit log. Zero is the beginning.
type AuditOffset int64

// End returns the position behind what is logged now.
func (a AuditLog) End() AuditOffset {
	return AuditOffset(size(a.path))
}

// Events returns what was logged since a position and passes all filters, oldest
// first, and the position behind the last complete event.
func (a AuditLog) Events(since AuditOffset, filters ...AuditFilter) ([]auditv1.Event, AuditOffset, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return nil, since, fmt.Errorf("open audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(int64(since), io.SeekStart); err != nil {
		return nil, since, fmt.Errorf("seek in audit log: %w", err)
	}
	var events []auditv1.Event
	for reader := bufio.NewReader(file); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, since, nil // what is left of a line is still being written
		}
		if err != nil {
			return nil, since, fmt.Errorf("read audit log: %w", err)
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, since, fmt.Errorf("decode audit event at %d: %w", since, err)
		}
		since += AuditOffset(len(line))
		if passes(&event, filters) {
			events = append(events, event)
		}
	}
}

// AuditFilter tells whether an event is wanted.
type AuditFilter func(*auditv1.Event) bool

// Writes passes requests that may change something, whether or not they did.
func Writes(e *auditv1.Event) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// NotLeases passes requests for anything but Leases: those that a cluster at rest
// sends too.
func NotLeases(e *auditv1.Event) bool {
	return e.ObjectRef == nil || e.ObjectRef.Resource != "leases"
}

// ByUser passes requests of one user. Impersonation does not hide it.
func ByUser(user string) AuditFilter {
	return func(e *auditv1.Event) bool { return e.User.Username == user }
}

// ByUserAgent passes requests whose User-Agent begins with prefix.
func ByUserAgent(prefix string) AuditFilter {
	return func(e *auditv1.Event) bool { return strings.HasPrefix(e.UserAgent, prefix) }
}

func passes(event *auditv1.Event, filters []AuditFilter) bool {
	return !slices.ContainsFunc(filters, func(keep AuditFilter) bool { return !keep(event) })
}
