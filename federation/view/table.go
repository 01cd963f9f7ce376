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
	// Members are <namespace>/<name>.
	Members []string `json:"members"`
	Rows    []Row    `json:"layers"`
}

// Row is one layer on all members.
type Row struct {
	// Layer is <name> of a ClusterLayer or <namespace>/<name> of a Layer.
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
	t := Table{Members: []string{}, Rows: []Row{}}
	for _, m := range members {
		t.Members = append(t.Members, memberName(m))
	}
	sorted := bottomUp(layers)
	slices.Reverse(sorted)
	for _, l := range sorted {
		row, err := rowOf(l, members, known, now)
		if err != nil {
			return Table{}, fmt.Errorf("layer %s: %w", layer.RefOf(l), err)
		}
		row.Layer = layer.RefOf(l).String()
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

// note says what holds the worst member that can be seen, and since when, or that the layer
// is enforced. Of members that cannot be seen the table says so by itself.
func note(l v1alpha1.Layered, all []standing, now metav1.Time) string {
	var words []string
	if l.LayerSpec().Enforce {
		words = append(words, "enforced")
	}
	seen := slices.DeleteFunc(slices.Clone(all), func(s standing) bool { return s.state == v1alpha1.StateUnknown })
	if len(seen) > 0 && seen[0].message != "" {
		text := seen[0].message
		if len(all) > 1 {
			text = seen[0].member[strings.LastIndex(seen[0].member, "/")+1:] + ": " + text
		}
		if seen[0].since != nil && seen[0].state != v1alpha1.StateConverged {
			text += " (" + duration.HumanDuration(max(now.Sub(seen[0].since.Time), 0).Round(time.Second))
			if limit := seen[0].limit; limit > 0 {
				text += " of " + duration.HumanDuration(limit)
			}
			text += ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// shortNames leaves out namespaces where names alone tell all apart.
func shortNames(full []string) []string {
	names := make([]string, len(full))
	seen := map[string]int{}
	for i, name := range full {
		names[i] = name[strings.LastIndex(name, "/")+1:]
		seen[names[i]]++
	}
	for i, name := range full {
		if seen[names[i]] > 1 {
			names[i] = name
		}
	}
	return names
}

// layerNames are the rows' layers, as short as shortNames has them.
func (t Table) layerNames() []string {
	full := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		full[i] = r.Layer
	}
	return shortNames(full)
}

// String is the table with its columns aligned, without trailing blanks.
func (t Table) String() string {
	lines := [][]string{append(append([]string{""}, shortNames(t.Members)...), "")}
	names := t.layerNames()
	for i, r := range t.Rows {
		line := []string{names[i]}
		for _, c := range r.Cells {
			line = append(line, c.String())
		}
		lines = append(lines, append(line, r.Note))
	}
	return align(lines)
}
