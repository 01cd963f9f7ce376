package layer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	jsonpatch "github.com/evanphx/json-patch/v5"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// patchError is why a patch does not apply to an object.
type patchError struct {
	path   object.Path
	detail string
}

// applyPatch changes the strata as a patch says. The patch selects the object.
func (c *column) applyPatch(s *strata, st *staker, p source.Patch) *patchError {
	if p.Merge != nil {
		return c.applyMerge(s, st, p)
	}
	return c.applyOperations(s, st, p)
}

// applyMerge stakes the patch as if it were a manifest of its layer.
func (c *column) applyMerge(s *strata, st *staker, p source.Patch) *patchError {
	part := maps.Clone(p.Merge)
	if metadata, ok := part["metadata"].(map[string]any); ok {
		part["metadata"] = maps.Clone(metadata)
	}
	if field := c.foreign(part); field != "" {
		return &patchError{p.Path.Field("merge").Join(field), identityDetail}
	}
	source.Strip(part)
	st.stake(s.root, c.place, part)
	return nil
}

// applyOperations applies a JSON patch to what the layers have made of the object so far,
// and claims the difference for the patch's layer.
func (c *column) applyOperations(s *strata, st *staker, p source.Patch) *patchError {
	before := c.assemble(s.value())
	doc, err := json.Marshal(before)
	if err != nil {
		return &patchError{p.Path, "the object has no JSON form"}
	}
	for i, op := range p.Operations {
		if doc, err = applyOperation(doc, op); err != nil {
			return &patchError{p.Path.Field("jsonPatch").Index(i), explainOperation(op, err)}
		}
	}
	var after map[string]any
	if err := utiljson.Unmarshal(doc, &after); err != nil {
		return &patchError{p.Path, "leaves no object"}
	}
	if metadata, _ := after["metadata"].(map[string]any); metadata["name"] == nil || after["kind"] == nil || after["apiVersion"] == nil || c.foreign(after) != "" {
		return &patchError{p.Path, identityDetail}
	}
	source.Strip(after)
	source.Strip(before)
	st.absorb(s.root, c.place, before, withoutNulls(after))
	return nil
}

func applyOperation(doc []byte, op source.Operation) ([]byte, error) {
	raw, err := json.Marshal([]source.Operation{op})
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return nil, err
	}
	return patch.Apply(doc)
}

// explainOperation says why an operation does not apply. The library's own words may hold
// values.
func explainOperation(op source.Operation, err error) string {
	what := op.Op + " " + op.Path
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return what + ": the object has another value there"
	case op.Op == "move" || op.Op == "copy":
		return fmt.Sprintf("%s: the object has nothing at %s, or no place for it", what, op.From)
	case op.Op == "add":
		return what + ": the object has no place for it: add what is above it first"
	}
	return what + ": the object has no such path: correct it, or take the operation out"
}

const identityDetail = "would make it another object: apiVersion, kind, metadata.name and metadata.namespace stay as they are"

// foreign is the field in which a part of an object names another object, or "".
func (c *column) foreign(part map[string]any) object.Path {
	metadata, _ := part["metadata"].(map[string]any)
	for _, f := range []struct {
		field object.Path
		got   any
		want  string
	}{
		{"apiVersion", part["apiVersion"], c.gvk.GroupVersion().String()},
		{"kind", part["kind"], c.gvk.Kind},
		{"metadata.name", metadata["name"], c.id.Name},
		{"metadata.namespace", metadata["namespace"], c.id.Namespace},
	} {
		if f.got != nil && f.got != f.want {
			return f.field
		}
	}
	return ""
}

// assemble is the whole object: its fields and its identity. The fields are not changed.
func (c *column) assemble(fields map[string]any) map[string]any {
	whole := maps.Clone(fields)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"] = c.id.Name
	if c.id.Namespace != "" {
		metadata["namespace"] = c.id.Namespace
	}
	whole["metadata"] = metadata
	whole["apiVersion"], whole["kind"] = c.gvk.ToAPIVersionAndKind()
	return whole
}
