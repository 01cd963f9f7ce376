package object

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// mark is a label or annotation by which a tool knows the objects that it keeps. Some tools
// have moved theirs from labels to annotations, so both are looked at.
type mark struct {
	// tool is the tool, and the kind of what keeps the object.
	tool string
	key  string
	// name reads the keeper's name from the mark's value; nil if the value is the name. A
	// mark that is not about this object is none.
	name func(value string, u *unstructured.Unstructured) (name string, ok bool)
	// namespace is the key of the keeper's namespace, if the tool gives it.
	namespace string
}

// marks are those of the field's tools, the one that says most first: Flux and Rancher keep
// objects by way of Helm, and leave its marks too.
var marks = []mark{
	{tool: "Karmada Work", key: "work.karmada.io/name", namespace: "work.karmada.io/namespace"},
	{tool: "Karmada", key: "karmada.io/managed", name: isTrue},
	{tool: "Flux HelmRelease", key: "helm.toolkit.fluxcd.io/name", namespace: "helm.toolkit.fluxcd.io/namespace"},
	{tool: "Flux Kustomization", key: "kustomize.toolkit.fluxcd.io/name", namespace: "kustomize.toolkit.fluxcd.io/namespace"},
	{tool: "Argo CD Application", key: "argocd.argoproj.io/tracking-id", name: tracked},
	{tool: "Argo CD Application", key: "argocd.argoproj.io/instance"},
	{tool: "Sveltos profile", key: "projectsveltos.io/owner-name"},
	{tool: "Sveltos, from", key: "projectsveltos.io/reference-name", namespace: "projectsveltos.io/reference-namespace"},
	{tool: "Rancher, for", key: "objectset.rio.cattle.io/owner-name", namespace: "objectset.rio.cattle.io/owner-namespace"},
	{tool: "Rancher object set", key: "objectset.rio.cattle.io/id"},
	{tool: "Helm release", key: "meta.helm.sh/release-name", namespace: "meta.helm.sh/release-namespace"},
}

// owners are kinds whose objects own, on a member, what a hub has sent there.
var owners = map[schema.GroupKind]string{
	{Group: "work.open-cluster-management.io", Kind: "AppliedManifestWork"}: "Open Cluster Management",
	{Group: "placement.kubernetes-fleet.io", Kind: "AppliedWork"}:           "KubeFleet",
	{Group: "config.projectsveltos.io", Kind: "ClusterProfile"}:             "Sveltos",
	{Group: "config.projectsveltos.io", Kind: "Profile"}:                    "Sveltos",
}

// managedBy is Kubernetes' recommended label. Whoever writes manifests may set it, so it
// counts for least.
const managedBy = "app.kubernetes.io/managed-by"

// Keeper is the tool that keeps a live object, with the mark that tells so, as in "Helm
// release shop/web (meta.helm.sh/release-name)"; false if no mark is known. Hub is the id of
// our hub, and ours are the field managers that we apply by: neither is another tool.
// kubectl leaves marks as well, and keeps nothing.
func Keeper(u *unstructured.Unstructured, hub string, ours ...string) (string, bool) {
	if other := u.GetLabels()[v1alpha1.LabelHub]; other != "" && other != hub {
		return fmt.Sprintf("another Syncline hub, %s (%s)", other, v1alpha1.LabelHub), true
	}
	for _, keeper := range []func(*unstructured.Unstructured) (string, bool){keptByOwner, keptByMark} {
		if text, found := keeper(u); found {
			return text, true
		}
	}
	if applier := applierOf(u, ours); applier != "" {
		return applier + " (field manager that applies the object)", true
	}
	if tool := u.GetLabels()[managedBy]; tool != "" && !slices.Contains(ours, tool) {
		return fmt.Sprintf("%s (%s)", tool, managedBy), true
	}
	return "", false
}

func keptByOwner(u *unstructured.Unstructured) (string, bool) {
	for _, owner := range u.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if tool, known := owners[kind]; known {
			return fmt.Sprintf("%s, by %s %s (owner reference)", tool, owner.Kind, owner.Name), true
		}
	}
	if owner := metav1.GetControllerOf(u); owner != nil {
		return fmt.Sprintf("%s %s (controller owner reference)", owner.Kind, owner.Name), true
	}
	return "", false
}

func keptByMark(u *unstructured.Unstructured) (string, bool) {
	for _, m := range marks {
		value := marked(u, m.key)
		if value == "" {
			continue
		}
		name, ok := value, true
		if m.name != nil {
			name, ok = m.name(value, u)
		}
		if !ok {
			continue
		}
		if namespace := marked(u, m.namespace); namespace != "" {
			name = namespace + "/" + name
		}
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(m.tool+" "+name), m.key), true
	}
	return "", false
}

// marked is the value of a label or else of an annotation.
func marked(u *unstructured.Unstructured, key string) string {
	if value := u.GetLabels()[key]; value != "" {
		return value
	}
	return u.GetAnnotations()[key]
}

// isTrue is for marks that name nobody.
func isTrue(value string, _ *unstructured.Unstructured) (string, bool) { return "", value == "true" }

// tracked reads Argo CD's <application>:<group>/<kind>:<namespace>/<name>. Controllers copy
// annotations to what they make; a copy names the object that it was copied from.
func tracked(value string, u *unstructured.Unstructured) (string, bool) {
	application, object, _ := strings.Cut(value, ":")
	kind, name, _ := strings.Cut(object, ":")
	id := Of(u)
	// With applications in any namespace, theirs stands before an underscore.
	return strings.Replace(application, "_", "/", 1), kind == id.Group+"/"+id.Kind && strings.HasSuffix(name, "/"+id.Name)
}

// people is kubectl's field manager for server-side apply.
const people = "kubectl"

// applierOf is the field manager, none of ours, that applied the object last; or "".
func applierOf(u *unstructured.Unstructured, ours []string) string {
	others, _ := Managers(u, ours...) // of managers that cannot be read nobody is known to apply
	for _, m := range others {
		if m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" && m.Name != people {
			return m.Name
		}
	}
	return ""
}
