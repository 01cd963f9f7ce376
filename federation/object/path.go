package object

import (
	"strconv"
	"strings"
)

// Path is how people name a field: spec.template.spec.containers[web].image. It is made to
// be read; programs address fields by JSON pointer.
type Path string

// Field is the path of a field of what p names. A name that would be misread after a dot
// stands in brackets: metadata.labels[app.kubernetes.io/name].
func (p Path) Field(name string) Path {
	switch {
	case name == "" || strings.ContainsAny(name, ".[]/ "):
		return p.Entry(name)
	case p == "":
		return Path(name)
	}
	return p + "." + Path(name)
}

// Join is the path of what rel names in what p names.
func (p Path) Join(rel Path) Path {
	if p == "" || rel == "" || rel[0] == '[' {
		return p + rel
	}
	return p + "." + rel
}

// Entry is the path of an entry of the list that p names, by its key.
func (p Path) Entry(key string) Path { return p + "[" + Path(key) + "]" }

// Index is the path of an entry of the list that p names, by its place.
func (p Path) Index(i int) Path { return p.Entry(strconv.Itoa(i)) }

// Within says whether p is above or names what is above it.
func (p Path) Within(above Path) bool {
	rest, ok := strings.CutPrefix(string(p), string(above))
	return ok && (rest == "" || above == "" || rest[0] == '.' || rest[0] == '[')
}

// String is the path as people read it.
func (p Path) String() string { return string(p) }
