package member

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/health"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// keeping is how the objects of one home are kept on the member, and what goes on with the
// home itself. The zero value keeps them by the defaults of the API.
type keeping struct {
	policy   v1alpha1.SyncPolicy
	deletion v1alpha1.DeletionPolicy
	recreate []source.Selector
	// health are the layer's own rules; nil where the layer is not known.
	health *health.Rules
	// generation is that of the layer.
	generation int64
	// departing: the layer is no longer on the member. Deserted: moreover, it is not being
	// deleted, and selects no other member either.
	departing, deserted bool
	// emptied: the layer is on the member and holds nothing any more.
	emptied bool
	// rolledBack: the layer was returned to an earlier revision. What the later one made goes.
	rolledBack bool
	// undecided: the member is given no revision of the layer yet, and nothing of it is removed.
	undecided bool
}

// keepings are those of all layers that have or had a part in the member.
type keepings map[layer.Ref]keeping

func (s *snapshot) keepings() keepings {
	all := keepings{}
	for i := range s.placed {
		p := &s.placed[i]
		k := keepingOf(p.Layer)
		k.health = p.Criteria.Health
		switch {
		case p.Excluded != "":
			k.departing = true
		case p.Given == "":
			k.undecided = true
		default:
			k.emptied, k.rolledBack = p.Content.Empty(), p.Given != p.Wanted && p.Barrier == nil
		}
		all[p.Ref()] = k
	}
	for _, d := range s.leaving {
		k := keeping{}
		if d.layer != nil {
			k = keepingOf(d.layer)
		}
		k.departing, k.deserted = true, d.deserted
		all[refOf(d.binding)] = k
	}
	return all
}

func keepingOf(l v1alpha1.Layered) keeping {
	spec := l.LayerSpec()
	k := keeping{policy: spec.Sync, deletion: spec.DeletionPolicy, generation: l.LayerStatus().ObservedGeneration}
	for _, target := range spec.Sync.Recreate {
		// A target that cannot be read selects nothing: what it meant is not made anew.
		if selector, err := source.Select(target); err == nil {
			k.recreate = append(k.recreate, selector)
		}
	}
	return k
}

func (k keeping) reportsDrift() bool { return k.policy.Drift == v1alpha1.DriftReport }

func (k keeping) conflicts() v1alpha1.ConflictPolicy {
	return cmp.Or(k.policy.Conflicts, v1alpha1.ConflictForce)
}

func (k keeping) adopts() v1alpha1.AdoptPolicy {
	return cmp.Or(k.policy.Adopt, v1alpha1.AdoptAlways)
}

// orphans says whether objects that go from the layer are left on the member.
func (k keeping) orphans(id object.ID) bool {
	switch {
	case cascades(id) && !k.policy.PruneCascading:
		return true
	case k.departing:
		return k.deletion == v1alpha1.DeletionOrphan
	}
	return k.policy.Prune != nil && !*k.policy.Prune
}

// limit is how many of the objects that the layer has on the member one edit may remove.
func (k keeping) limit(listed int) int {
	const always = 10
	if k.policy.PruneLimit != nil {
		return int(*k.policy.PruneLimit)
	}
	return max(always, listed/2)
}

// mayRecreate says whether the object may be deleted and made anew.
func (k keeping) mayRecreate(w wanted) bool {
	if cascades(w.ID) {
		return false
	}
	for _, selector := range k.recreate {
		if selector.Matches(w.ID, w.labels) {
			return true
		}
	}
	return false
}

// labels are the object's own.
func (w wanted) labels() map[string]string {
	metadata, _ := w.Value["metadata"].(map[string]any)
	values, _ := metadata["labels"].(map[string]any)
	labels := make(map[string]string, len(values))
	for key, value := range values {
		labels[key], _ = value.(string)
	}
	return labels
}

// cascades says whether deleting the object takes others along, or data.
func cascades(id object.ID) bool {
	return object.Foundation(id) || id.GroupKind() == schema.GroupKind{Kind: "PersistentVolumeClaim"}
}
