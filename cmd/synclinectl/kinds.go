package main

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/layer"
)

// shortNames are those by which kubectl knows Kubernetes' own kinds. They are data of the
// API server, and no cluster is asked for them.
var shortNames = map[schema.GroupKind][]string{
	{Kind: "ConfigMap"}:             {"cm"},
	{Kind: "Endpoints"}:             {"ep"},
	{Kind: "Event"}:                 {"ev"},
	{Kind: "LimitRange"}:            {"limits"},
	{Kind: "Namespace"}:             {"ns"},
	{Kind: "Node"}:                  {"no"},
	{Kind: "PersistentVolume"}:      {"pv"},
	{Kind: "PersistentVolumeClaim"}: {"pvc"},
	{Kind: "Pod"}:                   {"po"},
	{Kind: "ReplicationController"}: {"rc"},
	{Kind: "ResourceQuota"}:         {"quota"},
	{Kind: "Service"}:               {"svc"},
	{Kind: "ServiceAccount"}:        {"sa"},

	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {"crd", "crds"},
	{Group: "apps", Kind: "DaemonSet"}:                                {"ds"},
	{Group: "apps", Kind: "Deployment"}:                               {"deploy"},
	{Group: "apps", Kind: "ReplicaSet"}:                               {"rs"},
	{Group: "apps", Kind: "StatefulSet"}:                              {"sts"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:           {"hpa"},
	{Group: "batch", Kind: "CronJob"}:                                 {"cj"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {"csr"},
	{Group: "networking.k8s.io", Kind: "Ingress"}:                     {"ing"},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:               {"netpol"},
	{Group: "policy", Kind: "PodDisruptionBudget"}:                    {"pdb"},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:               {"pc"},
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                   {"sc"},
}

// kindNames knows by which words people call the kinds of a fold.
type kindNames struct {
	// custom holds the names that the fold's own definitions give.
	custom map[schema.GroupKind][]string
}

func namesIn(folded *layer.Folded) kindNames {
	names := kindNames{custom: map[schema.GroupKind][]string{}}
	for _, o := range folded.Objects {
		defined := o.Defines()
		if defined.Empty() {
			continue
		}
		plural, _, _ := unstructured.NestedString(o.Value, "spec", "names", "plural")
		singular, _, _ := unstructured.NestedString(o.Value, "spec", "names", "singular")
		short, _, _ := unstructured.NestedStringSlice(o.Value, "spec", "names", "shortNames")
		names.custom[defined] = append(short, plural, singular)
	}
	return names
}

// means says whether the word names the kind: by its name, singular, plural or short, in any
// case, perhaps with the group behind a dot.
func (n kindNames) means(word string, kind schema.GroupKind) bool {
	name, group, qualified := strings.Cut(strings.ToLower(word), ".")
	if qualified && group != kind.Group {
		return false
	}
	plural, singular := meta.UnsafeGuessKindToResource(kind.WithVersion(""))
	return name == singular.Resource || name == plural.Resource ||
		slices.Contains(shortNames[kind], name) || slices.Contains(n.custom[kind], name)
}
