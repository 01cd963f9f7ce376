package source

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/syncline-dev/syncline/federation/object"
)

// Source is what a layer's content means to one member. It is immutable: layers that are
// folded share its values.
type Source struct {
	// Objects in the order in which the layer holds them; no two share an ID.
	Objects []Object
	// Patches in the order in which they apply.
	Patches []Patch
	// Incomplete says that an object was refused before its ID was known. What the layer no
	// longer seems to hold might be that object, so nothing may be pruned on its account.
	Incomplete bool
}

// Object is an object of a layer, or the part of it that the layer holds.
type Object struct {
	// ID is where it meets the parts that other layers hold.
	ID object.ID
	// Version is the API version in which the layer wrote it.
	Version string
	// Path is its place in the content, such as manifests[3].
	Path object.Path
	// Fields is the object without apiVersion, kind, metadata.name and metadata.namespace.
	// A null stands for a removal.
	Fields map[string]any
	// Confidential says that its values must not be shown: it is a Secret, or came from one.
	Confidential bool
}

// GVK is the object's kind in the version in which the layer wrote it.
func (o Object) GVK() schema.GroupVersionKind { return o.ID.GroupKind().WithVersion(o.Version) }

// Parse reads content for one member. Problems have no Layer: the caller knows it. An
// object with a problem of severity Error is not in the source, whichever of its parts is
// at fault.
func Parse(content Content, facts Facts) (Source, []object.Problem) {
	p := parser{seen: map[object.ID]object.Path{}, refused: map[object.ID]bool{}}
	if content.Templated() {
		p.expressions = newExpressions(facts)
	}
	for i, raw := range content.Manifests {
		p.manifest(object.Path("manifests").Index(i), raw, false)
	}
	for i, raw := range content.secret {
		p.manifest(object.Path("secretManifests").Index(i), raw, true)
	}
	for i, patch := range content.Patches {
		p.patch(object.Path("patches").Index(i), patch)
	}
	p.dropRefused()
	return p.source, p.problems
}

// parser collects what Parse returns.
type parser struct {
	// expressions is nil without templates.
	expressions *expressions
	source      Source
	problems    []object.Problem
	// seen is where each object was met first.
	seen    map[object.ID]object.Path
	refused map[object.ID]bool
}

func (p *parser) refuse(id object.ID, path object.Path, reason, detail string) {
	p.problems = append(p.problems, object.Problem{
		Severity: object.Error, Object: id, Path: path.String(), Reason: reason, Detail: detail,
	})
	if id.Name == "" {
		p.source.Incomplete = true
		return
	}
	p.refused[id] = true
}

func (p *parser) warn(id object.ID, path object.Path, reason, detail string) {
	p.problems = append(p.problems, object.Problem{
		Severity: object.Warning, Object: id, Path: path.String(), Reason: reason, Detail: detail,
	})
}

// dropRefused takes out objects of which another part was refused.
func (p *parser) dropRefused() {
	kept := p.source.Objects[:0]
	for _, o := range p.source.Objects {
		if !p.refused[o.ID] {
			kept = append(kept, o)
		}
	}
	p.source.Objects = kept
}

func (p *parser) manifest(path object.Path, raw json.RawMessage, confidential bool) {
	var value map[string]any
	if err := utiljson.Unmarshal(raw, &value); err != nil || value == nil {
		p.refuse(object.ID{}, path, object.ReasonInvalidManifest, "is not an object")
		return
	}
	kind, _ := value["kind"].(string)
	if items, ok := value["items"].([]any); ok && strings.HasSuffix(kind, "List") {
		for i, item := range items {
			entry := path.Field("items").Index(i)
			if fields, ok := item.(map[string]any); ok {
				p.object(entry, fields, confidential)
			} else {
				p.refuse(object.ID{}, entry, object.ReasonInvalidManifest, "is not an object")
			}
		}
		return
	}
	p.object(path, value, confidential)
}

func (p *parser) object(path object.Path, value map[string]any, confidential bool) {
	confidential = confidential || isSecret(value)
	rendered, failures := p.render(path, value, confidential)
	value, _ = rendered.(map[string]any)
	id, version, broken := identify(path, value, failures)
	if broken != nil {
		p.refuse(id, broken.path, broken.reason, broken.detail)
		return
	}
	if first, twice := p.seen[id]; twice {
		p.refuse(id, path, object.ReasonDuplicateObject, fmt.Sprintf("the layer holds the object at %s already: keep one", first))
		return
	}
	p.seen[id] = path
	for _, f := range failures {
		p.refuse(id, f.path, object.ReasonTemplateFailed, f.detail)
	}
	if name := generateName(value); name != "" {
		p.refuse(id, path.Field("metadata").Field("generateName"), object.ReasonGenerateName, generateNameDetail)
	}
	if Strip(value) {
		p.warn(id, path.Field("metadata").Field("ownerReferences"), object.ReasonOwnerReferencesDropped,
			"are not sent: the owner's uid belongs to one cluster. Remove them from the manifest")
	}
	p.source.Objects = append(p.source.Objects, Object{
		ID: id, Version: version, Path: path, Fields: value, Confidential: confidential,
	})
}

// failure is a string that did not evaluate.
type failure struct {
	path   object.Path
	detail string
}

// render evaluates the templates in a tree. Without templates it is the tree itself.
func (p *parser) render(path object.Path, value any, confidential bool) (any, []failure) {
	if p.expressions == nil {
		return value, nil
	}
	var failures []failure
	r := renderer{expressions: p.expressions, fail: func(path object.Path, err *templateError) {
		detail := err.Error()
		if confidential {
			detail = err.hidden()
		}
		failures = append(failures, failure{path: path, detail: detail})
	}}
	rendered := r.render(path, value)
	sortFailures(failures)
	return rendered, failures
}
