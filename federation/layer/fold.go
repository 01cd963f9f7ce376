package layer

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// Fold is what the stack means to a member with these facts. Kinds that the stack's own
// CustomResourceDefinitions define are of the types they give them; of all others the
// schemas are asked. A fault of one object is a problem and leaves the others as they are.
func (s Stack) Fold(facts source.Facts, schemas Schemas) *Folded {
	beds := make([]bed, len(s))
	for i, l := range s {
		beds[i] = l.read(facts)
	}
	return foldBeds(beds, schemas)
}

// read reads a layer's content for one member.
func (l Layer) read(facts source.Facts) bed {
	b := bed{Layer: l}
	b.source, b.problems = source.Parse(l.Content, facts)
	cessions, problems := cede(l.Ignore)
	b.cessions = cessions
	b.problems = append(b.problems, problems...)
	for i := range b.problems {
		b.problems[i].Layer = l.Ref.String()
	}
	return b
}

// folding is the work on one stack.
type folding struct {
	beds    []bed
	schemas Schemas
	custom  *customSchemas
	columns map[object.ID]*column
	// refused are the objects of which some bed's part was refused.
	refused map[object.ID]bool
	matched map[patchRef]bool
	folded  *Folded
}

func foldBeds(beds []bed, schemas Schemas) *Folded {
	f := folding{
		beds:    beds,
		schemas: schemas,
		custom:  newCustomSchemas(),
		columns: map[object.ID]*column{},
		refused: map[object.ID]bool{},
		matched: map[patchRef]bool{},
		folded:  &Folded{},
	}
	f.collect()
	// Definitions stand before what they define in the order of application.
	for _, id := range slices.SortedFunc(maps.Keys(f.columns), object.CompareApply) {
		f.fold(f.columns[id])
	}
	f.unmatched()
	slices.SortFunc(f.folded.Problems, object.CompareProblems)
	return f.folded
}

// collect sorts what the beds hold into columns.
func (f *folding) collect() {
	for i := range f.beds {
		b := &f.beds[i]
		f.folded.Problems = append(f.folded.Problems, b.problems...)
		if b.source.Incomplete {
			f.folded.Incomplete = append(f.folded.Incomplete, b.Ref)
		}
		for j := range b.source.Objects {
			part := &b.source.Objects[j]
			c := f.column(part.ID, i)
			c.parts[i] = part
			c.confidential = c.confidential || part.Confidential
			c.gvk.Version = cmp.Or(c.gvk.Version, part.Version)
		}
		for _, p := range b.problems {
			if p.Severity == object.Error && p.Object.Name != "" {
				f.column(p.Object, i)
				f.refused[p.Object] = true
			}
		}
	}
}

// column is the object's column; the first bed to ask for it is its home.
func (f *folding) column(id object.ID, bed int) *column {
	c, ok := f.columns[id]
	if !ok {
		c = &column{
			id: id, gvk: id.GroupKind().WithVersion(""), beds: f.beds,
			parts: make([]*source.Object, len(f.beds)), home: bed,
			confidential: id.Group == "" && id.Kind == "Secret",
		}
		f.columns[id] = c
	}
	return c
}

// fold folds one object.
func (f *folding) fold(c *column) {
	c.place = f.place(c.gvk)
	b := c.build()
	for _, ref := range b.matched {
		f.matched[ref] = true
	}
	problems := b.problems
	if p := c.versions(); p != nil {
		// In the schema of one version, the other's fields are wrong in ways of no interest.
		problems = []object.Problem{*p}
	}
	out := Object{
		ID: c.id, GVK: c.gvk, Home: f.beds[c.home].Ref, Layers: c.layers(b.matched),
		Confidential: c.confidential, column: c,
	}
	out.Held = f.refused[c.id] || object.HasError(problems)
	if !out.Held {
		problems = append(problems, c.overrides(b.strata)...)
		var undecided []object.Problem
		out.Value, out.Ceded, undecided = c.finish(b.strata.value())
		problems = append(problems, undecided...)
		digest, err := object.Digest([]any{out.Home.String(), out.Value})
		if err != nil {
			panic(err) // Parsed JSON always has a JSON form.
		}
		out.Digest = digest
		if c.id.Kind == "CustomResourceDefinition" && object.Foundation(c.id) {
			f.custom.add(out.Value)
		}
	}
	f.folded.Problems = append(f.folded.Problems, problems...)
	f.folded.Objects = append(f.folded.Objects, out)
}

// finish is the whole object without what its home cedes, what that is, and the problems of
// rules that cannot be decided.
func (c *column) finish(fields map[string]any) (whole map[string]any, pointers [][]string, problems []object.Problem) {
	home := c.beds[c.home]
	pointers, problems = ceded(home.cessions, c.id, c.assemble(fields))
	for i := range problems {
		problems[i].Layer, problems[i].Object = home.Ref.String(), c.id
	}
	if rest, ok := without(fields, pointers).(map[string]any); ok {
		fields = rest
	}
	return c.assemble(fields), pointers, problems
}

func (f *folding) place(gvk schema.GroupVersionKind) place {
	if t, ok := f.custom.lookup(gvk); ok {
		return placeOf(t)
	}
	if t, ok := f.schemas.Type(gvk); ok {
		return placeOf(t)
	}
	return deduced
}

// unmatched reports the patches that selected nothing.
func (f *folding) unmatched() {
	for i, b := range f.beds {
		for j, p := range b.source.Patches {
			if f.matched[patchRef{i, j}] {
				continue
			}
			problem := object.Problem{
				Severity: object.Warning,
				Layer:    b.Ref.String(),
				Path:     p.Path.Field("target").String(),
				Reason:   object.ReasonPatchMatchesNothing,
				Detail:   "no object of this layer or of those below matches the target: correct it, or take the patch out",
			}
			if p.Broken != nil {
				problem = *p.Broken
				problem.Layer = b.Ref.String()
			}
			f.folded.Problems = append(f.folded.Problems, problem)
		}
	}
}
