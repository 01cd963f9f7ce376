// Package source turns what a layer's author wrote into objects and patches.
//
// ReadDocuments reads the YAML or JSON of a ConfigMap or Secret. Content is what a
// revision of a layer stores; Encode and Decode give it the form in which it is stored,
// Name the name. Parse evaluates templates over a member's facts, strips what only a live
// object has, and refuses what cannot be desired state. Every refusal is a problem of one
// object; the others go on.
//
// It is not where layers meet: an object here may be a part of one that lower layers hold,
// and nulls are still in it. It validates no field against a schema; package layer and the
// member's API do.
//
// Trade-offs: YAML is read as kubectl reads it (YAML 1.1, so "on" is a boolean), not as
// the newer standard has it. Templates are expressions inside string values rather than
// text that becomes YAML: they cannot make or omit a field by indentation, and in return
// they are typed and cannot break the document around them.
package source
