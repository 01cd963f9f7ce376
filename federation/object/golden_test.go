package object_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const (
	// ours is the field manager and hub the hub of all cases.
	ours = "syncline"
	hub  = "hub-1"
	// liveMark parts what we send from the live object, and resultMark both from what comes
	// of them.
	liveMark   = "\n==> live\n"
	resultMark = "\n==> result\n"
)

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
