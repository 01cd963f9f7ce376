package source

import (
	"errors"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// Patch is a patch that is ready to be applied.
type Patch struct {
	// Path is its place in the content, such as patches[2].
	Path object.Path
	// Selector says which objects it changes.
	Selector Selector
	// Merge is a part of an object; nil for a JSON patch.
	Merge map[string]any
	// Operations of a JSON patch; nil for a merge.
	Operations []Operation
	// Broken says why the patch cannot be applied to anything. Objects that it selects are
	// then left as they are. Its Object is zero.
	Broken *object.Problem
}

// Operation is one operation of a JSON patch, as RFC 6902 has it.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from,omitempty"`
	Value any    `json:"value"`
}

func (p *parser) patch(path object.Path, patch v1alpha1.Patch) {
	out := Patch{Path: path}
	broken := func(path object.Path, reason, detail string) {
		if out.Broken == nil {
			out.Broken = &object.Problem{Severity: object.Error, Path: path.String(), Reason: reason, Detail: detail}
		}
	}
	var err error
	if out.Selector, err = Select(patch.Target); err != nil {
		broken(path.Field("target"), object.ReasonInvalidPatch, err.Error())
	}
	confidential := patch.Target.Kind == "Secret"
	switch {
	case patch.Merge != nil:
		at := path.Field("merge")
		var merge map[string]any
		if err := utiljson.Unmarshal(patch.Merge.Raw, &merge); err != nil || merge == nil {
			broken(at, object.ReasonInvalidPatch, "is not an object")
			break
		}
		rendered, failures := p.render(at, merge, confidential)
		for _, f := range failures {
			broken(f.path, object.ReasonTemplateFailed, f.detail)
		}
		out.Merge, _ = rendered.(map[string]any)
	case len(patch.JSONPatch) > 0:
		for i, op := range patch.JSONPatch {
			at := path.Field("jsonPatch").Index(i).Field("value")
			value, failures, err := p.operand(at, op, confidential)
			if err != nil {
				broken(at, object.ReasonInvalidPatch, err.Error())
			}
			for _, f := range failures {
				broken(f.path, object.ReasonTemplateFailed, f.detail)
			}
			out.Operations = append(out.Operations, Operation{Op: op.Op, Path: op.Path, From: op.From, Value: value})
		}
	default:
		broken(path, object.ReasonInvalidPatch, "has neither merge nor jsonPatch")
	}
	p.source.Patches = append(p.source.Patches, out)
}

// operand is the rendered value of an operation; nil where it has none.
func (p *parser) operand(at object.Path, op v1alpha1.JSONPatchOperation, confidential bool) (any, []failure, error) {
	if op.Value == nil || len(op.Value.Raw) == 0 {
		return nil, nil, nil
	}
	var value any
	if err := utiljson.Unmarshal(op.Value.Raw, &value); err != nil {
		return nil, nil, errors.New("is not JSON")
	}
	value, failures := p.render(at, value, confidential)
	return value, failures, nil
}
