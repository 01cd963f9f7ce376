package object_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

const (
	// ours is the field manager and hub the hub of all cases.
	ours = "syncline"
	hub  = "hub-1"
	// liveMark parts what we send from the live object, and resultMark both from what comes
	// of them.
	liveMark   = "\n==> live\n"
	resultMark = "\n==> result\n"
)

// golden compares what answer says of each file in a folder of testdata with what stands
// below. Live objects are as a server showed them, their managed fields included.
func golden(t *testing.T, folder string, answer func(t *testing.T, input string) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := strings.Cut(string(raw), resultMark)
			got := answer(t, input)
			if *update {
				if err := os.WriteFile(file, []byte(strings.TrimRight(input, "\n")+"\n"+resultMark+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result differs (-want +got); after review, rewrite with -update:\n%s", diff)
			}
		})
	}
}

// read reads an object as the program does: whole numbers are int64.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func inline(t *testing.T, value any) string {
	t.Helper()
	raw, err := utiljson.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func line(out *strings.Builder, format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
