package health

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/syncline-dev/syncline/federation/object"
)

// Of is the health of a live object, its status included. The message is the same for the
// same object, and empty for one that is Current.
func Of(u *unstructured.Unstructured) object.Health {
	if h, decided := ours(u); decided {
		return h
	}
	result, err := status.Compute(u)
	if err != nil {
		return object.Health{Status: object.InProgress, Message: "its status cannot be read"}
	}
	switch result.Status {
	case status.CurrentStatus:
		return current(u)
	case status.FailedStatus:
		return object.Health{Status: object.Failed, Message: phrase(result.Message)}
	case status.TerminatingStatus:
		return object.Health{Status: object.Terminating, Message: "is being deleted"}
	}
	return object.Health{Status: object.InProgress, Message: progress(u, phrase(result.Message))}
}

// ours decides about kinds that kstatus takes for current whatever they say.
func ours(u *unstructured.Unstructured) (object.Health, bool) {
	if u.GetDeletionTimestamp() != nil {
		return object.Health{}, false
	}
	switch object.Of(u).GroupKind().String() {
	case "Namespace":
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		if phase != "Active" {
			return object.Health{Status: object.InProgress, Message: "is not active yet"}, true
		}
	case "APIService.apiregistration.k8s.io":
		if c := condition(u, "Available"); c["status"] != "True" {
			return object.Health{Status: object.InProgress, Message: "is not available" + because(c)}, true
		}
	}
	return object.Health{}, false
}

// current is the health of an object that kstatus finds nothing wrong with: it may have
// found so in a condition that speaks of an older generation.
func current(u *unstructured.Unstructured) object.Health {
	if behind(u) {
		return object.Health{Status: object.InProgress, Message: unseen}
	}
	return object.Health{Status: object.Current}
}

// unseen is the message of an object whose status speaks of an older generation.
const unseen = "its controller has not seen the newest generation"

// behind says whether the status, or its condition Ready, speaks of an older generation.
func behind(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	for _, speaks := range []map[string]any{status, condition(u, "Ready")} {
		observed, ok, _ := unstructured.NestedInt64(speaks, "observedGeneration")
		if ok && observed < u.GetGeneration() {
			return true
		}
	}
	return false
}

// progress replaces what counts generations: the numbers differ from pass to pass, and
// from member to member.
func progress(u *unstructured.Unstructured, message string) string {
	observed, found, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if found && observed != u.GetGeneration() || strings.Contains(message, "not found") {
		return unseen
	}
	return message
}

func condition(u *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

func because(condition map[string]any) string {
	if message, _ := condition["message"].(string); message != "" {
		return ": " + message
	}
	return ""
}

var (
	counted     = regexp.MustCompile(`^(\w+): (\d+)/(\d+)$`)
	terminating = regexp.MustCompile(`^Pending termination: (\d+)$`)
)

// phrase says in words what kstatus says in figures: "Updated: 2/3" is "2 of 3 replicas
// updated".
func phrase(message string) string {
	if m := counted.FindStringSubmatch(message); m != nil {
		done := strings.ToLower(m[1])
		if done == "replicas" || done == "current" {
			done = "created"
		}
		return fmt.Sprintf("%s of %s replicas %s", m[2], m[3], done)
	}
	if m := terminating.FindStringSubmatch(message); m != nil {
		return m[1] + " old replicas are being terminated"
	}
	return message
}
