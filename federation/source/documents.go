package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// DocumentError is a document that cannot be read.
type DocumentError struct {
	// Source is the key that holds the document.
	Source string
	// Document and Line count from one; Line is a line of the source, or 0.
	Document, Line int
	// Detail says what is wrong. It quotes keys and never values.
	Detail string
}

// Error names the source, the document and the line.
func (e *DocumentError) Error() string {
	where := fmt.Sprintf("%s: document %d", e.Source, e.Document)
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	return where + ": " + e.Detail
}

// ReadDocuments reads the objects in YAML or JSON documents, each as JSON. Documents are
// parted as in YAML; empty ones are skipped and Lists are taken apart. Integers stay exact,
// and a key that stands twice is an error. Errors are *DocumentError.
func ReadDocuments(name string, data []byte) ([]json.RawMessage, error) {
	var objects []json.RawMessage
	for i, doc := range splitDocuments(data) {
		raw, err := doc.json()
		if err == nil {
			objects, err = appendObjects(objects, raw)
		}
		if err != nil {
			line, detail := doc.explain(err)
			return nil, &DocumentError{Source: name, Document: i + 1, Line: line, Detail: detail}
		}
	}
	return objects, nil
}

// document is one YAML document and where it begins in its source.
type document struct {
	text []byte
	// line is the line of the source, counted from zero, on which text begins.
	line int
}

// splitDocuments parts at lines that start or end a YAML document. Documents without a
// single value are left out, and not counted.
func splitDocuments(data []byte) []document {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var docs []document
	current := document{}
	flush := func(next int) {
		if !blank(current.text) {
			docs = append(docs, current)
		}
		current = document{line: next}
	}
	line := 0
	for rest := data; len(rest) > 0; line++ {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		text := rest[:end]
		rest = rest[end:]
		switch {
		case marks(text, "..."):
			flush(line + 1)
			continue
		case marks(text, "---"):
			flush(line)
		}
		current.text = append(current.text, text...)
	}
	flush(line)
	return docs
}

// marks says whether the line is the document marker, perhaps followed by a value.
func marks(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// blank says whether the text holds nothing but comments and markers.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if marks(line, "---") {
			line = line[3:]
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// json is the document as JSON.
func (d document) json() (json.RawMessage, error) {
	if json.Valid(d.text) {
		// A YAML parser reads most JSON, but not all: not every escape, nor long keys.
		return bytes.TrimSpace(d.text), findDuplicateKey(d.text)
	}
	raw, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return nil, err
	}
	return raw, d.ends()
}

// ends is an error if something stands after the document's value: the parser above reads
// one value and leaves the rest unread, such as fields that are indented less than the first.
func (d document) ends() error {
	decoder := goyaml.NewDecoder(bytes.NewReader(d.text))
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	switch err := decoder.Decode(&value); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errors.New("holds more than one value")
}

var (
	lineInError = regexp.MustCompile(`line (\d+): `)
	// quoted is where the parser quotes a part of a value.
	quoted = regexp.MustCompile("anchor '[^']*'|`[^`]*`")
	// miscounted are faults that the parser finds, and not its scanner: it names the line
	// before.
	miscounted = regexp.MustCompile(`did not find expected (<|key|node|')`)
)

// explain turns a parser's error into a line of the source and a sentence. What the parser
// quotes of a value is hidden: it may be secret.
func (d document) explain(err error) (int, string) {
	text := err.Error()
	line := 0
	if m := lineInError.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		line += d.line
		if miscounted.MatchString(text) {
			line++
		}
	}
	text = lineInError.ReplaceAllString(text, "")
	text = quoted.ReplaceAllString(text, "(hidden)")
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimSpace(strings.TrimPrefix(text, prefix))
	}
	text, _, _ = strings.Cut(text, "\n")
	return line, text
}

// findDuplicateKey finds a key that stands twice in one object of valid JSON.
func findDuplicateKey(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	// seen has one set of keys for each open object, and nil for each open array.
	var seen []map[string]bool
	isKey := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				seen = append(seen, map[string]bool{})
			case '[':
				seen = append(seen, nil)
			default:
				seen = seen[:len(seen)-1]
			}
			isKey = len(seen) > 0 && seen[len(seen)-1] != nil
			continue
		case string:
			if isKey {
				keys := seen[len(seen)-1]
				if keys[t] {
					line := 1 + bytes.Count(raw[:decoder.InputOffset()], []byte("\n"))
					return fmt.Errorf("line %d: key %q already set in map", line, t)
				}
				keys[t] = true
				isKey = false
				continue
			}
		}
		isKey = len(seen) > 0 && seen[len(seen)-1] != nil
	}
}

// appendObjects appends the object, or the objects of a List.
func appendObjects(objects []json.RawMessage, raw json.RawMessage) ([]json.RawMessage, error) {
	if string(raw) == "null" {
		return objects, nil
	}
	if raw[0] != '{' {
		return nil, errors.New("is not an object; check its indentation")
	}
	var list struct {
		Kind  string          `json:"kind"`
		Items json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("kind is not a string")
	}
	if !strings.HasSuffix(list.Kind, "List") || len(list.Items) == 0 || list.Items[0] != '[' {
		return append(objects, raw), nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list.Items, &items); err != nil {
		return nil, fmt.Errorf("items of %s: %w", list.Kind, err)
	}
	for _, item := range items {
		var err error
		if objects, err = appendObjects(objects, item); err != nil {
			return nil, fmt.Errorf("items of %s: an entry %w", list.Kind, err)
		}
	}
	return objects, nil
}
