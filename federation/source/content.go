package source

import (
	"encoding/json"
	"slices"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Content is what a revision of a layer stores: everything that decides what the layer
// means, and nothing that decides how it is kept on members.
//
// Its JSON form never holds what was added by With.
type Content struct {
	// Order places the layer in a stack.
	Order int32 `json:"order"`
	// Enforce keeps layers above from overriding this one.
	Enforce bool `json:"enforce,omitempty"`
	// Template is the language of ${...}; empty means that there is none.
	Template v1alpha1.TemplateLanguage `json:"template,omitempty"`
	// Manifests holds one object each, or a List of them.
	Manifests []json.RawMessage `json:"manifests,omitempty"`
	// Patches are applied in their order, after the manifests.
	Patches []v1alpha1.Patch `json:"patches,omitempty"`

	// secret holds the manifests that came from Secrets.
	secret []json.RawMessage
}

// FromSpec is the content of a layer: its own manifests, then those read from elsewhere.
func FromSpec(spec *v1alpha1.LayerSpec, more ...json.RawMessage) Content {
	c := Content{
		Order:    spec.Order,
		Enforce:  spec.Enforce,
		Template: spec.Template,
		Patches:  spec.Patches,
	}
	for _, manifest := range spec.Manifests {
		c.Manifests = append(c.Manifests, json.RawMessage(manifest.Raw))
	}
	c.Manifests = append(c.Manifests, more...)
	return c
}

// With is the content and the manifests that came from Secrets. Those are kept apart: they
// take part in Parse and Name, and never in the content's JSON form. Callers store them as
// a Content of their own, in a Secret.
func (c Content) With(secret []json.RawMessage) Content {
	c.secret = append(slices.Clip(c.secret), secret...)
	return c
}

// Templated says whether a member's facts matter to the content, so that callers know
// whether members can share what Parse makes of it.
func (c Content) Templated() bool { return c.Template == v1alpha1.TemplateCEL }

// Empty says whether the content holds no objects. It may still patch those of others.
func (c Content) Empty() bool { return len(c.Manifests)+len(c.secret) == 0 }
