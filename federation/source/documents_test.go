package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want []string
		err  string
	}{
		"nothing":        {data: "", want: nil},
		"only comments":  {data: "# nothing\n---\n# here\n---\n", want: nil},
		"one":            {data: "kind: A\n", want: []string{`{"kind":"A"}`}},
		"two":            {data: "kind: A\n---\nkind: B\n", want: []string{`{"kind":"A"}`, `{"kind":"B"}`}},
		"empty between":  {data: "---\nkind: A\n---\n---\n# no\n--- # comment\nkind: B\n...\n", want: []string{`{"kind":"A"}`, `{"kind":"B"}`}},
		"null":           {data: "null\n---\nkind: A\n", want: []string{`{"kind":"A"}`}},
		"value at mark":  {data: "--- {kind: A}\n--- {kind: B}\n", want: []string{`{"kind":"A"}`, `{"kind":"B"}`}},
		"windows":        {data: "\xef\xbb\xbfkind: A\r\n---\r\nkind: B\r\n", want: []string{`{"kind":"A"}`, `{"kind":"B"}`}},
		"after the end":  {data: "kind: A\n...\nkind: B\n", want: []string{`{"kind":"A"}`, `{"kind":"B"}`}},
		"dashes in text": {data: "a: |\n  ---\n  b\n", want: []string{`{"a":"---\nb\n"}`}},
		"int64 in YAML":  {data: "a: 9007199254740993\n", want: []string{`{"a":9007199254740993}`}},
		"int64 in JSON":  {data: `{"a": 9007199254740993}`, want: []string{`{"a":9007199254740993}`}},
		"JSON's own":     {data: `{"a": "\/\ud83d\ude00"}`, want: []string{`{"a":"/😀"}`}},
		"as kubectl":     {data: "a: on\nb: 1.0\n", want: []string{`{"a":true,"b":1}`}},
		"anchors":        {data: "a: &x {b: 1}\nc: *x\n", want: []string{`{"a":{"b":1},"c":{"b":1}}`}},
		"lists":          {data: "kind: List\nitems:\n- {kind: A}\n- {kind: ConfigMapList, items: [{kind: B}]}\n", want: []string{`{"kind":"A"}`, `{"kind":"B"}`}},
		"an empty list":  {data: "kind: List\nitems: []\n", want: nil},
		"not a list":     {data: "kind: AccessList\nitems: {}\n", want: []string{`{"items":{},"kind":"AccessList"}`}},

		"duplicate key":       {data: "kind: A\n---\n\nkind: B\nkind: C\n", err: `key: document 2, line 5: key "kind" already set in map`},
		"duplicate in JSON":   {data: "{\"a\": [{\"b\": 1},\n{\"b\": 1,\n\"b\": 2}]}", err: `key: document 1, line 3: key "b" already set in map`},
		"duplicate below":     {data: "a:\n  b: 1\n  b: 2\n", err: `key: document 1, line 3: key "b" already set in map`},
		"syntax":              {data: "kind: A\n---\n a: b\nc: d\n", err: `key: document 2, line 4: did not find expected <document start>`},
		"a list":              {data: "- a\n", err: `key: document 1: is not an object; check its indentation`},
		"a scalar":            {data: "kind: A\n---\nhello\n", err: `key: document 2: is not an object; check its indentation`},
		"a scalar in a list":  {data: "kind: List\nitems: [a]\n", err: `key: document 1: items of List: an entry is not an object; check its indentation`},
		"a value in an error": {data: "password: *hunter2\n", err: `key: document 1: unknown (hidden) referenced`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadDocuments("key", []byte(c.data))
			if c.err != "" {
				var typed *DocumentError
				if !errors.As(err, &typed) || err.Error() != c.err {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, canonical(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// canonical writes objects with sorted keys and exact numbers.
func canonical(t *testing.T, objects []json.RawMessage) []string {
	t.Helper()
	var out []string
	for _, raw := range objects {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var buf bytes.Buffer
		encoder := json.NewEncoder(&buf)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(buf.String()))
	}
	return out
}

// FuzzReadDocuments: whatever comes in, it does not panic, every object is a JSON object,
// and reading them again as JSON gives the same.
func FuzzReadDocuments(f *testing.F) {
	for _, seed := range []string{
		"kind: A\n---\nkind: B\n", `{"kind":"List","items":[{"a":1}]}`, "a: &x 1\nb: *x\n", "--- {a: 1}\n...\n",
		"a: |\n  ---\n", "? [a]\n: b\n", "{\"a\":1,\"a\":2}", "\xef\xbb\xbf---\n", "a: !!binary aGk=\n", "<<: {a: b}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, err := ReadDocuments("key", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "key: document ") {
				t.Errorf("error without place: %v", err)
			}
			return
		}
		for _, o := range objects {
			if !json.Valid(o) || o[0] != '{' {
				t.Fatalf("not an object: %q", o)
			}
			again, err := ReadDocuments("key", o)
			if err != nil || len(again) != 1 || !bytes.Equal(again[0], o) {
				t.Fatalf("%q read again is %q, %v", o, again, err)
			}
		}
	})
}

// TestLineOfAFault puts each kind of fault on a known line.
func TestLineOfAFault(t *testing.T) {
	for fault, detail := range map[string]string{
		"a: b: c":     "mapping values are not allowed in this context",
		"a: [b":       "did not find expected ',' or ']'",
		"\ta: b":      "found a tab character that violates indentation",
		"a: 'b":       "found unexpected end of stream",
		"a: \"\\q\"":  "found unknown escape character",
		"a: b\n c: d": "mapping values are not allowed in this context",
	} {
		_, err := ReadDocuments("key", []byte("kind: A\n---\nkind: B\nspec:\n  x: y\n"+fault+"\n"))
		var typed *DocumentError
		if !errors.As(err, &typed) {
			t.Errorf("%q: %v", fault, err)
			continue
		}
		if typed.Detail != detail || typed.Line < 6 || typed.Line > 7 {
			t.Errorf("%q: line %d, %s", fault, typed.Line, typed.Detail)
		}
	}
}
