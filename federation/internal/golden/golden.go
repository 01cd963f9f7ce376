// Package golden compares what the engine says with what stands in files.
//
// A file is text that people would write, a mark, and the result. The files document what the
// engine does, so a changed result is reviewed like code: -update rewrites the part below the
// mark. Only tests import this package.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

// Run asks answer about the text of each .txt file in a folder, and compares what it says with
// what stands below the mark.
func Run(t *testing.T, folder, mark string, answer func(t *testing.T, input string) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := strings.Cut(string(raw), mark)
			got := answer(t, input)
			if *update {
				if err := os.WriteFile(file, []byte(strings.TrimRight(input, "\n")+"\n"+mark+got), 0o644); err != nil {
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
