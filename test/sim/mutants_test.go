package sim

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mutant is clusters/shard with a fault. Edits are by file: pairs of what stands there, once,
// and what stands there instead.
type mutant struct {
	name  string
	edits map[string][]string
}

var mutants = []mutant{
	{"no guard", map[string][]string{"tenure.go": {
		"return !l.closed && now.Before(l.until)", "return true",
		"before.Add(until.Sub(now)), errEnded", "before.Add(until.Sub(now)+time.Hour), errEnded",
	}}},
	{"foreign clocks compared", map[string][]string{"holding.go": {
		"!m.ours(s) && !m.due(now, s.freeAt(m.cfg.LeaseDuration))",
		"!m.ours(s) && !m.due(now, s.freeAt(m.cfg.LeaseDuration)) && (s.lease.Spec.RenewTime == nil || !m.due(now, s.lease.Spec.RenewTime.Add(m.cfg.LeaseDuration)))",
	}}},
	{"release before drain", map[string][]string{"holding.go": {
		"if s.writing || !m.due(now, s.quietAt) {\n\t\treturn\n\t}\n\ts.phase = releasing",
		"s.phase = releasing",
	}}},
}

// TestMutants shows that the simulation finds faults: each mutant must come to two writers.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package several times")
	}
	caught := 0
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, "go", "test", "-overlay", m.overlay(t), ".", "-run", "^TestSchedules$", "-schedules=2000", "-violations=20")
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), twoWriters) {
				t.Fatalf("is not caught: %v\n%.5000s", err, out)
			}
			caught++
		})
	}
	say("mutants_caught %d", caught)
}

// overlay is the path of a file that makes the go command build the mutant.
func (m mutant) overlay(t *testing.T) string {
	dir := t.TempDir()
	replace := map[string]string{}
	for file, edits := range m.edits {
		path, err := filepath.Abs(filepath.Join("..", "..", "clusters", "shard", file))
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		for i := 0; i < len(edits); i += 2 {
			if strings.Count(text, edits[i]) != 1 {
				t.Fatalf("%s has not exactly one %q", file, edits[i])
			}
			text = strings.Replace(text, edits[i], edits[i+1], 1)
		}
		replace[path] = write(t, filepath.Join(dir, file), []byte(text))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(dir, "overlay.json"), overlay)
}

func write(t *testing.T, path string, content []byte) string {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
