package expression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// mentions is what the text of an expression names.
type mentions struct {
	// variables that are named at all, and those of which more than single fields are.
	variables, whole map[string]bool
	// fields of variables, as variable.field.
	fields map[string]bool
	// words are all names of fields and all strings: what errors may quote, since the author
	// wrote it.
	words map[string]bool
}

// mentionsOf reads a checked expression. A macro's own variable counts as named like any
// other: the answer errs towards more.
func mentionsOf(checked *cel.Ast) mentions {
	m := mentions{
		variables: map[string]bool{}, whole: map[string]bool{}, fields: map[string]bool{}, words: map[string]bool{},
	}
	root := ast.NavigateAST(checked.NativeRep())
	for _, e := range ast.MatchDescendants(root, ast.AllMatcher()) {
		switch e.Kind() {
		case ast.IdentKind:
			name := e.AsIdent()
			m.variables[name] = true
			if parent, ok := e.Parent(); ok && parent.Kind() == ast.SelectKind {
				m.fields[name+"."+parent.AsSelect().FieldName()] = true
			} else {
				m.whole[name] = true
			}
		case ast.SelectKind:
			m.words[e.AsSelect().FieldName()] = true
		case ast.LiteralKind:
			if s, ok := e.AsLiteral().(types.String); ok {
				m.words[string(s)] = true
			}
		}
	}
	return m
}
