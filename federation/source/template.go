package source

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/syncline-dev/syncline/federation/object"
)

// segment is a piece of a templated string: text as it stands, or an expression.
type segment struct {
	text       string
	expression bool
	// column is where in the string the piece begins, counted in characters from one.
	column int
}

// templateError is a fault of one ${...}.
type templateError struct {
	// expression is the text between the braces; empty where they are not closed.
	expression string
	// column is a place in the expression or, without one, in the string.
	column int
	cause  string
}

func (e *templateError) Error() string {
	if e.expression == "" {
		return fmt.Sprintf("column %d: %s", e.column, e.cause)
	}
	shown := []rune(e.expression)
	if len(shown) > maxShown {
		shown = append(shown[:maxShown:maxShown], '…')
	}
	return fmt.Sprintf("${%s}: column %d: %s", string(shown), e.column, e.cause)
}

// maxShown is how many characters of an expression an error quotes.
const maxShown = 80

// hidden is the error without what the author wrote.
func (e *templateError) hidden() string {
	return fmt.Sprintf("an expression fails at column %d (not shown: the object is confidential)", e.column)
}

// split parts a string at its expressions. $${ is a literal ${.
func split(text string) ([]segment, error) {
	var segments []segment
	var literal strings.Builder
	start := 0
	flush := func() {
		if literal.Len() > 0 {
			segments = append(segments, segment{text: literal.String(), column: column(text, start)})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			literal.WriteString("${")
			i += 3
		case strings.HasPrefix(text[i:], "${"):
			flush()
			length := expressionLength(text[i+2:])
			if length < 0 {
				return nil, &templateError{column: column(text, i), cause: "${ has no closing brace; write $${ for a literal ${"}
			}
			segments = append(segments, segment{text: text[i+2 : i+2+length], expression: true, column: column(text, i)})
			i += 2 + length + 1
			start = i
		default:
			literal.WriteByte(text[i])
			i++
		}
	}
	flush()
	return segments, nil
}

func column(text string, offset int) int { return utf8.RuneCountInString(text[:offset]) + 1 }

// expressionLength is the length of the CEL expression before the brace that closes it, or
// -1. Braces of CEL's own maps, in its strings and in its comments do not close it.
func expressionLength(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '"', '\'':
			length := literalLength(text[i:], isRaw(text, i))
			if length < 0 {
				return -1
			}
			i += length - 1
		case '/':
			if strings.HasPrefix(text[i:], "//") {
				end := strings.IndexByte(text[i:], '\n')
				if end < 0 {
					return -1
				}
				i += end
			}
		}
	}
	return -1
}

// isRaw says whether the quote at i opens a CEL string in which a backslash is itself: one
// with the prefix r, br or rb.
func isRaw(text string, i int) bool {
	start := i
	for start > 0 && strings.IndexByte("rRbB", text[start-1]) >= 0 {
		start--
	}
	if start > 0 && isIdentifier(text[start-1]) {
		return false
	}
	return strings.ContainsAny(text[start:i], "rR")
}

func isIdentifier(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// literalLength is the length of the CEL string at the start of text, quotes included, or
// -1 if it is not closed.
func literalLength(text string, raw bool) int {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		}
	}
	return -1
}

// renderer evaluates the expressions in the string values of a tree.
type renderer struct {
	expressions *expressions
	// fail is told of each string that does not evaluate.
	fail func(path object.Path, err *templateError)
}

// render is the tree with every string evaluated. It shares nothing with the argument that
// it changes.
func (r *renderer) render(path object.Path, value any) any {
	switch v := value.(type) {
	case string:
		rendered, err := r.text(v)
		if err != nil {
			var failed *templateError
			if !errors.As(err, &failed) {
				failed = &templateError{column: 1, cause: err.Error()}
			}
			r.fail(path, failed)
			return v
		}
		return rendered
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = r.render(path.Field(name), item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.render(path.Index(i), item)
		}
		return out
	}
	return value
}

// text evaluates one string. A string that is one expression has the expression's type.
func (r *renderer) text(text string) (any, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	segments, err := split(text)
	if err != nil {
		return nil, err
	}
	if len(segments) == 1 && segments[0].expression {
		return r.expressions.value(segments[0].text)
	}
	var out strings.Builder
	for _, s := range segments {
		if !s.expression {
			out.WriteString(s.text)
			continue
		}
		piece, err := r.expressions.text(s.text)
		if err != nil {
			return nil, err
		}
		out.WriteString(piece)
	}
	return out.String(), nil
}
