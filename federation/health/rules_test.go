package health

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

func decode(t *testing.T, live string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(live))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

// phases is a rule for a kind that says all in its status' phase.
var phases = v1alpha1.HealthRule{
	Group: "x.dev", Kind: "Job",
	Current:    `object.status.phase == "Done"`,
	InProgress: `object.status.phase == "Done" && object.status.closing`,
	Failed:     `object.status.phase == "Lost"`,
}

func TestRules(t *testing.T) {
	rules, problems := Compile([]v1alpha1.HealthRule{phases})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, c := range map[string]struct {
		live string
		want object.Health
	}{
		"current": {
			`{apiVersion: x.dev/v1, kind: Job, status: {phase: Done}}`,
			object.Health{Status: object.Current},
		},
		"failed": {
			`{apiVersion: x.dev/v1, kind: Job, status: {phase: Lost}}`,
			object.Health{Status: object.Failed, Message: "has failed by its health rule"},
		},
		"in progress is asked before current": {
			`{apiVersion: x.dev/v1, kind: Job, status: {phase: Done, closing: true}}`,
			object.Health{Status: object.InProgress, Message: "is in progress by its health rule"},
		},
		"none of them": {
			`{apiVersion: x.dev/v1, kind: Job, status: {phase: Running}}`,
			object.Health{Status: object.InProgress, Message: "is not current yet by its health rule"},
		},
		"no status": {
			`{apiVersion: x.dev/v1, kind: Job}`,
			object.Health{Status: object.InProgress, Message: "is not current yet by its health rule"},
		},
		"any version of the kind": {
			`{apiVersion: x.dev/v2, kind: Job, status: {phase: Lost}}`,
			object.Health{Status: object.Failed, Message: "has failed by its health rule"},
		},
		"being deleted, whatever the rule says": {
			`{apiVersion: x.dev/v1, kind: Job, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Lost}}`,
			object.Health{Status: object.Terminating, Message: "is being deleted"},
		},
		"a status of an older generation": {
			`{apiVersion: x.dev/v1, kind: Job, metadata: {generation: 2}, status: {observedGeneration: 1, phase: Done}}`,
			object.Health{Status: object.InProgress, Message: "its controller has not seen the newest generation"},
		},
		"a condition of an older generation": {
			`{apiVersion: x.dev/v1, kind: Job, metadata: {generation: 2},
			  status: {observedGeneration: 2, phase: Lost, conditions: [{type: Ready, status: "True", observedGeneration: 1}]}}`,
			object.Health{Status: object.InProgress, Message: "its controller has not seen the newest generation"},
		},
		"a status of this generation": {
			`{apiVersion: x.dev/v1, kind: Job, metadata: {generation: 2}, status: {observedGeneration: 2, phase: Done}}`,
			object.Health{Status: object.Current},
		},
		"a generation that is counted in another way": {
			`{apiVersion: x.dev/v1, kind: Job, metadata: {generation: 2}, status: {observedGeneration: "2", phase: Done}}`,
			object.Health{Status: object.Current},
		},
		"another type than expected": {
			`{apiVersion: x.dev/v1, kind: Job, status: {phase: Done, closing: hunter2}}`,
			object.Health{Status: object.InProgress, Message: "spec.convergence.health[0].inProgress fails on this object: it works on a value of another type than it expects, or outside a type's bounds"},
		},
		"a kind without a rule": {
			`{apiVersion: batch/v1, kind: Job, status: {phase: Lost, conditions: [{type: Complete, status: "True"}]}}`,
			object.Health{Status: object.Current},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rules.Of(decode(t, c.live)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestRulesFor(t *testing.T) {
	rules, _ := Compile([]v1alpha1.HealthRule{phases})
	var none *Rules
	job := schema.GroupKind{Group: "x.dev", Kind: "Job"}
	if !rules.For(job) || rules.For(schema.GroupKind{Group: "batch", Kind: "Job"}) || none.For(job) {
		t.Error("a rule is for its kind, and for no other")
	}
	if got := none.Of(decode(t, `{apiVersion: x.dev/v1, kind: Job}`)); got.Status != object.Current {
		t.Errorf("without rules: %+v", got)
	}
}

// TestRulesAtFault: the problem names field and column, and objects of the kind do not become
// healthy by rules that the author wanted replaced.
func TestRulesAtFault(t *testing.T) {
	for name, c := range map[string]struct {
		rules   []v1alpha1.HealthRule
		problem string
		health  string
	}{
		"current": {
			[]v1alpha1.HealthRule{{Group: "x.dev", Kind: "Job", Current: `object.status.phase ==`}},
			`Error InvalidHealthRule: spec.convergence.health[0].current: column 23: Syntax error`,
			"spec.convergence.health[0].current does not compile",
		},
		"failed": {
			[]v1alpha1.HealthRule{{Group: "x.dev", Kind: "Job", Current: `true`, Failed: `self.failed`}},
			`Error InvalidHealthRule: spec.convergence.health[0].failed: column 1: undeclared reference to 'self'; the variables here: object: mend the expression, or remove the rule`,
			"spec.convergence.health[0].failed does not compile",
		},
		"empty": {
			[]v1alpha1.HealthRule{{Group: "x.dev", Kind: "Job"}},
			`Error InvalidHealthRule: spec.convergence.health[0].current: column 1: the expression is empty`,
			"spec.convergence.health[0].current does not compile",
		},
		"two rules of one kind": {
			[]v1alpha1.HealthRule{{Group: "x.dev", Kind: "Job", Current: `false`}, {Group: "x.dev", Kind: "Job", Current: `true`}},
			`Error InvalidHealthRule: spec.convergence.health[1]: another rule is for Job.x.dev already: keep one`,
			"is not current yet by its health rule",
		},
	} {
		rules, problems := Compile(c.rules)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), c.problem) {
			t.Errorf("%s: %v, want %s", name, problems, c.problem)
		}
		want := object.Health{Status: object.InProgress, Message: c.health}
		if got := rules.Of(decode(t, `{apiVersion: x.dev/v1, kind: Job}`)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
