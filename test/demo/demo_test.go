package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestMembersAlternateBetweenRegions(t *testing.T) {
	for n, want := range map[int]string{1: "eu-1", 2: "eu-1 us-1", 3: "eu-1 eu-2 us-1", 5: "eu-1 eu-2 eu-3 us-1 us-2"} {
		var names []string
		for _, member := range membersOf(n) {
			names = append(names, member.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d members: got %s, want %s", n, got, want)
		}
	}
}

func TestOnlyTheCurrentGenerationCounts(t *testing.T) {
	converged := func(status metav1.ConditionStatus, generation int64) []metav1.Condition {
		return []metav1.Condition{{
			Type: v1alpha1.ConditionConverged, Status: status, ObservedGeneration: generation,
			Reason: "Progressing", Message: "fleet/us-1: 2 of 3 replicas updated",
		}}
	}
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		want       string
	}{
		"converged":               {converged(metav1.ConditionTrue, 2), ""},
		"an older generation":     {converged(metav1.ConditionTrue, 1), "generation 1"},
		"not converged":           {converged(metav1.ConditionFalse, 2), "2 of 3 replicas"},
		"nothing has been said":   {nil, "no condition"},
		"nothing can be said now": {converged(metav1.ConditionUnknown, 2), "Progressing"},
	} {
		got := conditionMissing(tc.conditions, 2)
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q, want it to say %q", name, got, tc.want)
		}
	}
}

func TestADirectoryHasOneDemo(t *testing.T) {
	path := t.TempDir()
	first, err := openDirectory(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openDirectory(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a second demo: got error %v, want one that names %s", err, path)
	}
	first.close()
	second, err := openDirectory(path)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	second.close()
}

func TestOptions(t *testing.T) {
	for _, args := range []string{"--members=0", "--replicas=0", "surplus", "--unheard-of"} {
		if _, err := parseOptions([]string{args}, io.Discard); err == nil {
			t.Errorf("%s: got no error", args)
		}
	}
	got, err := parseOptions(nil, io.Discard)
	if want := (options{members: 3, replicas: 2}); err != nil || got != want {
		t.Errorf("without arguments: got %+v, error %v; want %+v", got, err, want)
	}
}

func TestTheStoryIsAligned(t *testing.T) {
	var out bytes.Buffer
	n := &narrator{begin: time.Now(), out: &out}
	n.step("Starting %s", number(1, "member", "members"))
	if _, err := n.Write([]byte("fleet: eu-1 is ready\nbuilding\n")); err != nil {
		t.Fatal(err)
	}
	n.block("$ synclinectl status\n\nbase\n")
	want := "\n" +
		"   0.0 s  Starting one member\n" +
		"   0.0 s    eu-1 is ready\n" +
		"   0.0 s    building\n" +
		"\n" +
		"    $ synclinectl status\n" +
		"\n" +
		"    base\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
