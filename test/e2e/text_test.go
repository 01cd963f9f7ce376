package e2e

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// replaced is a text with other words in the place of some, given in pairs.
func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

func expectNoFile(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was made: %v", path, err)
	}
}

// indented is a text with its lines, but the first, moved to the right.
func indented(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by) + "\n"
}
