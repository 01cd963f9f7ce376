package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

// Explain says of every field of an object which layer set it and which it won over, one
// line each. Fields that were left to another manager on the member say so. Values of
// confidential objects are not shown.
func Explain(o layer.Object, yielded ...v1alpha1.YieldedField) string {
	lines := [][]string{{"FIELD", "VALUE", "LAYER", "OVER"}}
	leaves := o.Leaves()
	name := layerNames(o.Home, leaves)
	for _, l := range leaves {
		var over []string
		holder, isYielded := HolderOf(l, yielded)
		if l.Ignored || isYielded {
			over = append(over, name[l.Layer]+": "+scalar(l.Value))
		}
		for _, c := range l.Over {
			over = append(over, name[c.Layer]+": "+scalar(c.Value))
		}
		value, by := scalar(l.Value), name[l.Layer]
		switch {
		case l.Removed:
			value = "(removed)"
		case l.Ignored:
			value, by = "(not sent)", "(ignored by "+name[o.Home]+")"
		case isYielded:
			value, by = "(not sent)", "("+holder+"; yielded by "+name[o.Home]+")"
		}
		lines = append(lines, []string{l.Path, value, by, strings.Join(over, ", ")})
	}
	return align(lines)
}

// HolderOf is the manager to which a field was left, if it was.
func HolderOf(l layer.Leaf, yielded []v1alpha1.YieldedField) (string, bool) {
	for _, field := range yielded {
		// An entry that is a key and a value is called by its key.
		if object.Path(l.Path).Within(object.Path(field.Path)) || field.Path == l.Path+".value" {
			return field.Manager, true
		}
	}
	return "", false
}

// layerNames leaves out namespaces where names alone tell all layers apart.
func layerNames(home layer.Ref, leaves []layer.Leaf) map[layer.Ref]string {
	names := map[layer.Ref]string{home: ""}
	for _, l := range leaves {
		names[l.Layer] = ""
		for _, c := range l.Over {
			names[c.Layer] = ""
		}
	}
	var refs []layer.Ref
	var full []string
	for ref := range names {
		refs, full = append(refs, ref), append(full, ref.String())
	}
	for i, short := range shortNames(full) {
		names[refs[i]] = short
	}
	return names
}

// maxScalar is how many characters of a value are shown.
const maxScalar = 60

// scalar is a value on one line: strings as YAML writes them, quoted only where they would
// be read as something else, and JSON for the rest.
func scalar(value any) string {
	var text string
	switch v := value.(type) {
	case string:
		text = strconv.Quote(v)
		if !strings.ContainsAny(v, "\n\t") {
			if raw, err := yaml.Marshal(v); err == nil && strings.Count(string(raw), "\n") == 1 {
				text = strings.TrimSpace(string(raw))
			}
		}
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		text = string(raw)
	}
	if utf8.RuneCountInString(text) > maxScalar {
		text = string([]rune(text)[:maxScalar-1]) + "…"
	}
	return text
}

// align sets lines of cells in columns, without trailing blanks. The last cell of a line
// may be as wide as it likes.
func align(lines [][]string) string {
	var widths []int
	for _, line := range lines {
		for i, cell := range line[:len(line)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line[:len(line)-1] {
			text.WriteString(cell)
			text.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+columnGap))
		}
		text.WriteString(line[len(line)-1])
		out.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	return out.String()
}

// columnGap is the space between columns.
const columnGap = 3
