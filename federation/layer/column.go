package layer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// bed is one layer of a stack with its content read for one member.
type bed struct {
	Layer
	source   source.Source
	problems []object.Problem
	cessions []cession
}

// column is what goes into the strata of one object: its parts, and the patches of all
// beds. It is immutable once it is folded, so that strata can be built again.
type column struct {
	id    object.ID
	gvk   schema.GroupVersionKind
	place place
	beds  []bed
	// parts by bed; nil where a bed does not hold the object.
	parts []*source.Object
	// home is the lowest bed that holds the object or tried to.
	home int
	// confidential says that values must not be shown.
	confidential bool
}

// patchRef names a patch of a stack by bed and place.
type patchRef struct{ bed, patch int }

// built is what building the strata of a column gives.
type built struct {
	strata *strata
	// problems of severity Error leave the strata incomplete.
	problems []object.Problem
	// matched are the patches that select the object.
	matched []patchRef
}

// build folds the object: bed by bed, the part and then the patches.
func (c *column) build() built {
	b := built{strata: newStrata(c.enforced())}
	held := false
	for i := range c.beds {
		st := &staker{layer: i}
		if part := c.parts[i]; part != nil {
			held = true
			st.fail = c.failures(&b, i, "")
			st.stake(b.strata.root, c.place, part.Fields)
		}
		if held {
			c.patch(&b, st)
		}
	}
	return b
}

// patch applies those of a bed's patches that select the object.
func (c *column) patch(b *built, st *staker) {
	bed := c.beds[st.layer]
	labels := func() map[string]string { return labelsOf(b.strata.value()) }
	for i, p := range bed.source.Patches {
		if !p.Selector.Matches(c.id, labels) {
			continue
		}
		b.matched = append(b.matched, patchRef{st.layer, i})
		if p.Broken != nil {
			problem := *p.Broken
			problem.Layer, problem.Object = bed.Ref.String(), c.id
			b.problems = append(b.problems, problem)
			continue
		}
		st.fail = c.failures(b, st.layer, p.Path)
		if err := c.applyPatch(b.strata, st, p); err != nil {
			b.problems = append(b.problems, object.Problem{
				Severity: object.Error, Layer: bed.Ref.String(), Object: c.id,
				Path: err.path.String(), Reason: object.ReasonPatchFailed, Detail: err.detail,
			})
		}
	}
}

// failures records what the schema does not allow in a bed's part, or in one of its patches.
func (c *column) failures(b *built, bed int, patch object.Path) func(object.Path, string, string) {
	return func(path object.Path, reason, detail string) {
		if patch != "" {
			detail = fmt.Sprintf("%s (after %s)", detail, patch)
		}
		b.problems = append(b.problems, object.Problem{
			Severity: object.Error, Layer: c.beds[bed].Ref.String(), Object: c.id,
			Path: path.String(), Reason: reason, Detail: detail,
		})
	}
}

// layers are those that say something of the object, by a part or by a patch, from bottom
// to top.
func (c *column) layers(matched []patchRef) []Ref {
	speaks := make([]bool, len(c.beds))
	speaks[c.home] = true
	for i, part := range c.parts {
		speaks[i] = speaks[i] || part != nil
	}
	for _, ref := range matched {
		speaks[ref.bed] = true
	}
	var layers []Ref
	for i, says := range speaks {
		if says {
			layers = append(layers, c.beds[i].Ref)
		}
	}
	return layers
}

func (c *column) enforced() []bool {
	enforced := make([]bool, len(c.beds))
	for i, b := range c.beds {
		enforced[i] = b.Content.Enforce
	}
	return enforced
}

// versions is the problem of a column whose parts are written in different API versions,
// and nil where there is none.
func (c *column) versions() *object.Problem {
	lowest := -1
	for i, part := range c.parts {
		switch {
		case part == nil:
		case lowest < 0:
			lowest = i
		case part.Version != c.parts[lowest].Version:
			return &object.Problem{
				Severity: object.Error,
				Layer:    c.beds[i].Ref.String(),
				Object:   c.id,
				Path:     part.Path.Field("apiVersion").String(),
				Reason:   object.ReasonVersionMismatch,
				Detail: fmt.Sprintf("is %s here and %s in layer %s: write both in one version",
					part.GVK().GroupVersion(), c.parts[lowest].GVK().GroupVersion(), c.beds[lowest].Ref),
			}
		}
	}
	return nil
}

func labelsOf(fields map[string]any) map[string]string {
	labels, _, _ := unstructured.NestedStringMap(fields, "metadata", "labels")
	return labels
}
