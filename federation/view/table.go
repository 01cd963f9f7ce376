package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/rollout"
)

// Table is the layered view as people read it in a terminal: layers from top to bottom,
// members from left to right.
type Table struct {
	Members []string `json:"members"`
	Rows    []Row    `json:"layers"`
}

// Row is one layer on all members.
type Row struct {
	Layer string `json:"layer"`
	// Cells stand under Members.
	Cells []Cell `json:"cells"`
	// Note is what there is to say about the layer; may be empty.
	Note string `json:"note,omitempty"`
}

// Cell is one layer on one member. Its zero value is a member that the layer does not
// select.
type Cell struct {
	State   v1alpha1.State `json:"state,omitempty"`
	Healthy int32          `json:"healthy"`
	Objects int32          `json:"objects"`
}

// symbols of the states; a cell without a state is nothing.
var symbols = map[v1alpha1.State]string{
	v1alpha1.StateConverged:   "●",
	v1alpha1.StateProgressing: "◐",
	v1alpha1.StateDegraded:    "✕",
	v1alpha1.StatePaused:      "‖",
	v1alpha1.StateUnknown:     "?",
	"":                        "·",
}

// String is the cell in a few characters: "● 5", "◐ 4/5", "?", "·".
func (c Cell) String() string {
	symbol := symbols[c.State]
	switch c.State {
	case "", v1alpha1.StateUnknown:
		return symbol
	case v1alpha1.StateConverged:
		return fmt.Sprintf("%s %d", symbol, c.Objects)
	}
	return fmt.Sprintf("%s %d/%d", symbol, c.Healthy, c.Objects)
}

// NewTable lays out layers on members. The error is a layer's selector that cannot be read.
func NewTable(layers []v1alpha1.Layered, members []*v1alpha1.MemberCluster, bindings []v1alpha1.LayerBinding, now metav1.Time) (Table, error) {
	members = slices.SortedFunc(slices.Values(members), func(a, b *v1alpha1.MemberCluster) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	known := index(bindings)
	t := Table{Members: shortNames(members, memberName)}
	sorted := bottomUp(layers)
	slices.Reverse(sorted)
	names := shortNames(sorted, func(l v1alpha1.Layered) string { return layer.RefOf(l).String() })
	for i, l := range sorted {
		row, err := rowOf(l, members, known, now)
		if err != nil {
			return Table{}, fmt.Errorf("layer %s: %w", layer.RefOf(l), err)
		}
		row.Layer = names[i]
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func rowOf(l v1alpha1.Layered, members []*v1alpha1.MemberCluster, known map[bindingKey]*v1alpha1.LayerBinding, now metav1.Time) (Row, error) {
	row := Row{Cells: make([]Cell, len(members))}
	var selected []standing
	for i, m := range members {
		ok, err := rollout.Selects(l, m)
		if err != nil {
			return Row{}, err
		}
		if !ok {
			continue
		}
		s := standingOf(l, m, known[bindingKey{layer.RefOf(l), memberName(m)}])
		selected = append(selected, s)
		row.Cells[i] = Cell{State: s.state, Healthy: s.healthy, Objects: s.objects}
	}
	slices.SortFunc(selected, compareStandings)
	row.Note = note(l, selected, now)
	return row, nil
}

// note says what holds the worst member and since when, or that the layer is enforced.
func note(l v1alpha1.Layered, all []standing, now metav1.Time) string {
	var words []string
	if l.LayerSpec().Enforce {
		words = append(words, "enforced")
	}
	if len(all) > 0 && all[0].message != "" {
		text := all[0].message
		if all[0].since != nil && all[0].state != v1alpha1.StateConverged {
			text += " (" + duration.HumanDuration(max(now.Sub(all[0].since.Time), 0).Round(time.Second)) + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// shortNames leaves out namespaces where names alone tell all apart.
func shortNames[T any](items []T, full func(T) string) []string {
	names := make([]string, len(items))
	seen := map[string]int{}
	for i, item := range items {
		name := full(item)
		names[i] = name[strings.LastIndex(name, "/")+1:]
		seen[names[i]]++
	}
	for i, item := range items {
		if seen[names[i]] > 1 {
			names[i] = full(item)
		}
	}
	return names
}

// String is the table with its columns aligned, without trailing blanks.
func (t Table) String() string {
	lines := [][]string{append(append([]string{""}, t.Members...), "")}
	for _, r := range t.Rows {
		line := []string{r.Layer}
		for _, c := range r.Cells {
			line = append(line, c.String())
		}
		lines = append(lines, append(line, r.Note))
	}
	return align(lines)
}
