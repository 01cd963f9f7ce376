package object_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/syncline-dev/syncline/federation/internal/golden"
	"github.com/syncline-dev/syncline/federation/object"
)

// TestDifferences: what of that which we send, above, the live object does not hold.
func TestDifferences(t *testing.T) {
	golden.Run(t, "testdata/differences", resultMark, func(t *testing.T, input string) string {
		text, liveText, _ := strings.Cut(input, liveMark)
		wanted, live := read(t, text), read(t, liveText)
		before, liveBefore := runtime.DeepCopyJSON(wanted.Object), live.DeepCopy()
		differences := object.Differences(wanted.Object, live, ours)
		if !reflect.DeepEqual(before, wanted.Object) || !reflect.DeepEqual(liveBefore, live) {
			t.Error("the arguments are changed")
		}
		if again := object.Differences(wanted.Object, live, ours); !reflect.DeepEqual(differences, again) {
			t.Error("the same question has two answers")
		}
		if none := object.Differences(live.Object, live, ours); len(none) > 0 {
			t.Errorf("the object differs from itself: %v", none)
		}
		var out strings.Builder
		for _, d := range differences {
			line(&out, "%s", d)
			line(&out, "  want  %s", inline(t, d.Want))
			if !d.Missing {
				line(&out, "  have  %s", inline(t, d.Have))
			}
		}
		if len(differences) == 0 {
			line(&out, "none")
		}
		return out.String()
	})
}
