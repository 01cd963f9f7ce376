package object

import (
	"cmp"
	"slices"
	"strings"
)

// Severity says what a problem does to its object.
type Severity string

// The severities, worst first.
const (
	// Error: the object is not applied. What is on the member stays as it is.
	Error Severity = "Error"
	// Warning: the object is applied, and somebody should know.
	Warning Severity = "Warning"
)

// Reasons of problems that are found before anything is sent to a member.
const (
	// ReasonInvalidManifest: not an object, or without apiVersion or kind.
	ReasonInvalidManifest = "InvalidManifest"
	// ReasonGenerateName: desired state needs a name of its own.
	ReasonGenerateName = "GenerateName"
	// ReasonEmptyName: metadata.name is missing.
	ReasonEmptyName = "EmptyName"
	// ReasonDuplicateObject: one layer holds the object twice.
	ReasonDuplicateObject = "DuplicateObject"
	// ReasonOwnerReferencesDropped: owners of one cluster mean nothing in another.
	ReasonOwnerReferencesDropped = "OwnerReferencesDropped"
	// ReasonTemplateFailed: an expression does not compile, or fails on the member's facts.
	ReasonTemplateFailed = "TemplateFailed"
	// ReasonTypeMismatch: a value is not of the type that the schema gives the field.
	ReasonTypeMismatch = "TypeMismatch"
	// ReasonDuplicateKey: two entries of a keyed list have the same keys.
	ReasonDuplicateKey = "DuplicateKey"
	// ReasonVersionMismatch: two layers hold the object in different API versions.
	ReasonVersionMismatch = "VersionMismatch"
	// ReasonInvalidPatch: a patch or its target cannot be read.
	ReasonInvalidPatch = "InvalidPatch"
	// ReasonPatchFailed: a patch does not apply to an object it selects.
	ReasonPatchFailed = "PatchFailed"
	// ReasonPatchMatchesNothing: a patch selects no object.
	ReasonPatchMatchesNothing = "PatchMatchesNothing"
	// ReasonInvalidIgnore: an ignore rule cannot be read.
	ReasonInvalidIgnore = "InvalidIgnore"
	// ReasonEnforcedFieldOverridden: a layer sets what an enforced layer below has set.
	ReasonEnforcedFieldOverridden = "EnforcedFieldOverridden"
)

// Problem is one thing that is wrong with one object of one layer.
//
// A problem is the same on every pass that finds the same fault, so that it can stand in a
// condition. It names fields, types and layers, and never holds a value: values may be
// secret.
type Problem struct {
	Severity Severity
	// Layer is the layer that is to blame, as layer.Ref writes it.
	Layer string
	// Object is the object that suffers. Its Name is empty where the manifest gives none;
	// it is zero where the layer as a whole is meant.
	Object ID
	// Path is the field to blame: a path into the layer (manifests[3].metadata.name,
	// patches[0]) or into the object (spec.replicas).
	Path string
	// Reason is a CamelCase word.
	Reason string
	// Detail says what is wrong and the way out, without repeating the above.
	Detail string
}

// Message is the whole sentence: object, layer, path, what is wrong and the way out.
func (p Problem) Message() string {
	var parts []string
	switch {
	case p.Object == (ID{}):
	case p.Object.Name == "":
		parts = append(parts, p.Object.Kind+" without a name")
	default:
		parts = append(parts, p.Object.String())
	}
	if p.Layer != "" {
		parts = append(parts, "layer "+p.Layer)
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.Detail), ": ")
}

// String is the problem on one line.
func (p Problem) String() string {
	return string(p.Severity) + " " + p.Reason + ": " + p.Message()
}

// CompareProblems orders problems: errors first, then by layer, object, path and the rest.
func CompareProblems(a, b Problem) int {
	return cmp.Or(
		// "Error" sorts before "Warning".
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Layer, b.Layer),
		Compare(a.Object, b.Object),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Reason, b.Reason),
		cmp.Compare(a.Detail, b.Detail),
	)
}

// HasError says whether any of the problems keeps its object from being applied.
func HasError(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}
