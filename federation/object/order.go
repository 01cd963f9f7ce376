package object

import "cmp"

// rank places kinds that others need before them. Kinds not named here are applied after
// these and before the ones that act on what is already there.
var rank = map[string]int{
	"Namespace":                -100,
	"CustomResourceDefinition": -90,
	"PriorityClass":            -80,
	"StorageClass":             -80,
	"IngressClass":             -80,
	"RuntimeClass":             -80,
	"ResourceQuota":            -70,
	"LimitRange":               -70,
	"NetworkPolicy":            -70,
	"ServiceAccount":           -60,
	"ClusterRole":              -60,
	"Role":                     -60,
	"ClusterRoleBinding":       -55,
	"RoleBinding":              -55,
	"Secret":                   -50,
	"ConfigMap":                -50,
	"PersistentVolume":         -45,
	"PersistentVolumeClaim":    -40,
	"Service":                  -30,
	"Ingress":                  10,
	"HorizontalPodAutoscaler":  20,
	"PodDisruptionBudget":      20,
	"APIService":               30,

	"MutatingWebhookConfiguration":     40,
	"ValidatingWebhookConfiguration":   40,
	"ValidatingAdmissionPolicy":        40,
	"ValidatingAdmissionPolicyBinding": 45,
}

// CompareApply orders IDs for application: what others need first, then by ID. Pruning
// goes the other way round.
func CompareApply(a, b ID) int {
	return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), Compare(a, b))
}

// Foundation says whether the kind must be in place (established, active) before other
// objects of any layer are applied.
func Foundation(id ID) bool {
	switch id.Kind {
	case "Namespace":
		return id.Group == ""
	case "CustomResourceDefinition":
		return id.Group == "apiextensions.k8s.io"
	}
	return false
}

// SameWave says whether two objects may be applied at the same time: kinds of one rank
// need nothing of each other.
func SameWave(a, b ID) bool { return rank[a.Kind] == rank[b.Kind] }
