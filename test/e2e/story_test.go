package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

type runtimeObject = runtime.Object

// story is what a person would look at if a test fails: what the hub holds of it, and the
// managers' last words about it.
func (a *arena) story() string {
	ctx, cancel := afterTest()
	defer cancel()
	var b strings.Builder
	inArena := client.InNamespace(a.namespace)
	for _, look := range []struct {
		list  client.ObjectList
		which client.ListOption
	}{
		{&v1alpha1.MemberClusterList{}, inArena},
		{&v1alpha1.ClusterLayerList{}, client.MatchingLabels{labelArena: a.namespace}},
		{&v1alpha1.LayerList{}, inArena},
		{&v1alpha1.LayerBindingList{}, inArena},
	} {
		if err := a.hub.List(ctx, look.list, look.which); err != nil {
			fmt.Fprintf(&b, "--- %T: %v\n", look.list, err)
			continue
		}
		_ = meta.EachListItem(look.list, func(o runtime.Object) error {
			fmt.Fprintf(&b, "--- %s", asYAML(o.(client.Object)))
			return nil
		})
	}
	for _, replica := range product.Replicas {
		fmt.Fprintf(&b, "--- log of %s\n%s\n", replica.Identity, lastLines(replica.LogPath(), a.namespace))
	}
	return b.String()
}

func asYAML(o client.Object) string {
	const longest = 6000
	o.SetManagedFields(nil)
	out, err := yaml.Marshal(o)
	if err != nil {
		return err.Error() + "\n"
	}
	text := fmt.Sprintf("%T\n%s", o, out)
	if len(text) > longest {
		return text[:longest/2] + "\n[...]\n" + text[len(text)-longest/2:]
	}
	return text
}

// lastLines are the last lines of a log, and the last that mention a word.
func lastLines(path, word string) string {
	const lines, ofWord = 5, 25
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(content)), "\n")
	last := all[max(0, len(all)-lines):]
	about := slices.DeleteFunc(all[:len(all)-len(last)], func(line string) bool { return !strings.Contains(line, word) })
	return strings.Join(append(about[max(0, len(about)-ofWord):], last...), "\n")
}
