package source

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

const generateNameDetail = "desired state needs a name that is the same on every pass: set metadata.name instead"

// refusal is why an object cannot be identified.
type refusal struct {
	path           object.Path
	reason, detail string
}

// identify reads the ID and version of a manifest. With a refusal, the ID holds what is
// known, and its Name is empty.
func identify(at object.Path, value map[string]any, failures []failure) (object.ID, string, *refusal) {
	metadata, _ := value["metadata"].(map[string]any)
	for _, f := range failures {
		if decidesIdentity(at, f.path) {
			return object.ID{}, "", &refusal{f.path, object.ReasonTemplateFailed, f.detail}
		}
	}
	apiVersion, ok := value["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if !ok || err != nil || gv.Version == "" {
		return object.ID{}, "", &refusal{at.Field("apiVersion"), object.ReasonInvalidManifest, "must be <version> or <group>/<version>"}
	}
	kind, _ := value["kind"].(string)
	if kind == "" {
		return object.ID{}, "", &refusal{at.Field("kind"), object.ReasonInvalidManifest, "must name a kind"}
	}
	namespace, ok := optionalString(metadata["namespace"])
	id := object.ID{Group: gv.Group, Kind: kind, Namespace: namespace}
	if !ok || strings.Contains(namespace+kind, "/") {
		return id, "", &refusal{at.Field("metadata").Field("namespace"), object.ReasonInvalidManifest, "must be a namespace's name"}
	}
	name, ok := optionalString(metadata["name"])
	namePath := at.Field("metadata").Field("name")
	switch {
	case name == "" && generateName(value) != "":
		return id, "", &refusal{at.Field("metadata").Field("generateName"), object.ReasonGenerateName, generateNameDetail}
	case !ok:
		return id, "", &refusal{namePath, object.ReasonInvalidManifest, "must be a string"}
	case name == "":
		return id, "", &refusal{namePath, object.ReasonEmptyName, "must be set: desired state names its objects"}
	}
	if faults := content.IsPathSegmentName(name); len(faults) > 0 {
		return id, "", &refusal{namePath, object.ReasonInvalidManifest, fmt.Sprintf("cannot be a name: it %s", faults[0])}
	}
	id.Name = name
	return id, gv.Version, nil
}

// decidesIdentity says whether the value at p is one that an ID is made of.
func decidesIdentity(at, p object.Path) bool {
	metadata := at.Field("metadata")
	return p.Within(at.Field("apiVersion")) || p.Within(at.Field("kind")) ||
		p.Within(metadata.Field("name")) || p.Within(metadata.Field("namespace"))
}

// optionalString is a string that may be missing.
func optionalString(value any) (string, bool) {
	if value == nil {
		return "", true
	}
	s, ok := value.(string)
	return s, ok
}

func generateName(value map[string]any) string {
	metadata, _ := value["metadata"].(map[string]any)
	name, _ := metadata["generateName"].(string)
	return name
}

func isSecret(value map[string]any) bool {
	return value["kind"] == "Secret" && value["apiVersion"] == "v1"
}

// live are the fields of metadata that only the API server of a live object writes.
var live = []string{
	"resourceVersion", "uid", "managedFields", "creationTimestamp", "generation", "selfLink",
	"deletionTimestamp", "deletionGracePeriodSeconds", "generateName",
}

// Strip takes out of an object, or a part of one, what cannot be desired, and its identity.
// It says whether there were owner references. The value and its metadata are changed.
func Strip(value map[string]any) (owned bool) {
	delete(value, "apiVersion")
	delete(value, "kind")
	delete(value, "status")
	metadata, ok := value["metadata"].(map[string]any)
	if !ok {
		return false
	}
	for _, name := range append([]string{"name", "namespace"}, live...) {
		delete(metadata, name)
	}
	owners, _ := metadata["ownerReferences"].([]any)
	delete(metadata, "ownerReferences")
	if len(metadata) == 0 {
		delete(value, "metadata")
	}
	return len(owners) > 0
}

func sortFailures(failures []failure) {
	slices.SortFunc(failures, func(a, b failure) int {
		return strings.Compare(string(a.path)+"\x00"+a.detail, string(b.path)+"\x00"+b.detail)
	})
}
