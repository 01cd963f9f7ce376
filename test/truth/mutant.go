package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/syncline-dev/syncline/test/install"
)

// buildUnchecked builds a manager to which the checks mean nothing.
func buildUnchecked(ctx context.Context, dir string) (programs string, err error) {
	changed := filepath.Join(dir, "unchecked")
	if err := os.MkdirAll(changed, 0o755); err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for pkg, m := range mutations() {
		files, err := m.of(pkg)
		if err != nil {
			return "", err
		}
		for original, text := range files {
			file := filepath.Join(changed, filepath.Base(pkg)+"-"+filepath.Base(original))
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return "", err
			}
			replaced[original] = file
		}
	}
	return install.BuildReplaced(ctx, dir, "unchecked", replaced)
}

// mutations are those of the packages in directories.
func mutations() map[string]mutation {
	return map[string]mutation{
		install.Path("federation", "convergence"): believe,
		install.Path("federation", "health"):      trustAnyStatus,
	}
}

// mutation changes the source of a package.
type mutation struct {
	// find says what is to be put in the place of what in a file.
	find func(*ast.File) []replacement
	// parts are what must be found in the package: one that is not there does not differ.
	parts []string
}

// checks are the fields of convergence.Object that say whether what was seen of it counts.
var checks = []string{"Applied", "Seen"}

var (
	// believe takes every object for applied and seen.
	believe = mutation{findChecks, checks}
	// trustAnyStatus takes a status for one of the newest generation.
	trustAnyStatus = mutation{findHealth, []string{"Of"}}
)

// replacement is a piece of text for that between two positions, and the part of the mutation
// that it is.
type replacement struct {
	part     string
	from, to token.Pos
	text     string
}

// of is the new text of the files of a package that change.
func (m mutation) of(dir string) (map[string][]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	changed, found := map[string][]byte{}, map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		text, parts, err := m.mutate(name, source)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			found[part] = true
			changed[name] = text
		}
	}
	for _, part := range m.parts {
		if !found[part] {
			return nil, fmt.Errorf("%s has no %s that could be changed: the checks are made elsewhere now", dir, part)
		}
	}
	return changed, nil
}

// mutate is the new text of a file, and the parts of the mutation that it has.
func (m mutation) mutate(name string, source []byte) (text []byte, parts []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	replacements := m.find(file)
	slices.SortFunc(replacements, func(a, b replacement) int { return int(b.from - a.from) })
	text = slices.Clone(source)
	for _, r := range replacements { // from the end, so that positions before stay
		text = slices.Replace(text, files.Position(r.from).Offset, files.Position(r.to).Offset, []byte(r.text)...)
		parts = append(parts, r.part)
	}
	return text, parts, nil
}

// findChecks finds where the checks of an object are read.
func findChecks(file *ast.File) []replacement {
	var all []replacement
	written := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				written[e] = true
			}
		case *ast.SelectorExpr:
			if slices.Contains(checks, n.Sel.Name) && !written[n] {
				all = append(all, replacement{n.Sel.Name, n.Pos(), n.End(), "true"})
			}
		}
		return true
	})
	return all
}

// findHealth finds where a live object's health is computed, and has it begin with making the
// object's generation the one that its status is of.
func findHealth(file *ast.File) []replacement {
	var all []replacement
	for _, declared := range file.Decls {
		function, is := declared.(*ast.FuncDecl)
		if !is || function.Name.Name != "Of" {
			continue
		}
		for _, field := range function.Type.Params.List {
			if !isUnstructured(field.Type) || len(field.Names) != 1 {
				continue
			}
			begin := function.Body.Lbrace + 1
			all = append(all, replacement{"Of", begin, begin, strings.ReplaceAll(`
	if seen, found, _ := unstructured.NestedInt64(OBJECT.Object, "status", "observedGeneration"); found {
		OBJECT = OBJECT.DeepCopy()
		OBJECT.SetGeneration(seen)
	}`, "OBJECT", field.Names[0].Name)})
		}
	}
	return all
}

func isUnstructured(e ast.Expr) bool {
	pointer, is := e.(*ast.StarExpr)
	if !is {
		return false
	}
	selector, is := pointer.X.(*ast.SelectorExpr)
	return is && selector.Sel.Name == "Unstructured"
}
