package member

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// sink puts what a Reflector brings into the store, until it breaks a rule.
type sink struct {
	*kindWatch
	over bool // a rule was broken; what is still on its way does not count
}

var errNotOurs = errors.New("neither an unstructured object nor a sighting")

// Transformer implements cache.TransformingStore: of a first list, too, only observations
// are held.
func (s *sink) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return s.reduce(obj) }
}

func (s *sink) reduce(obj any) (*sighting, error) {
	switch obj := obj.(type) {
	case *sighting:
		return obj, nil
	case *unstructured.Unstructured:
		seen := observe(obj, s.health)
		seen.ID.Group, seen.ID.Kind = s.gvk.Group, s.gvk.Kind // one string for all
		return &sighting{
			ObjectMeta: metav1.ObjectMeta{Namespace: seen.ID.Namespace, Name: seen.ID.Name, ResourceVersion: seen.ResourceVersion},
			seen:       seen,
		}, nil
	}
	return nil, errNotOurs
}

// Add implements cache.ReflectorStore.
func (s *sink) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *sink) Update(obj any) error {
	sighted, err := s.reduce(obj)
	if err != nil || s.over {
		return err
	}
	changed, broken := s.store.seen(sighted.seen)
	s.taken(changed, broken, sighted.seen.ResourceVersion)
	return nil
}

// Delete implements cache.ReflectorStore. An object that lost our label is as good as gone.
func (s *sink) Delete(obj any) error {
	sighted, err := s.reduce(obj)
	if err != nil || s.over {
		return err
	}
	changed, broken := s.store.removed(sighted.seen)
	s.taken(changed, broken, sighted.seen.ResourceVersion)
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *sink) Replace(list []any, version string) error {
	seen := make([]Observation, 0, len(list))
	for _, obj := range list {
		sighted, err := s.reduce(obj)
		if err != nil {
			return err
		}
		seen = append(seen, sighted.seen)
	}
	changed, wentBack := s.store.replaced(s.gvk.GroupKind(), seen, version)
	if wentBack {
		s.log.Info(wentBackText, "kind", s.gvk, "version", version)
	}
	s.caughtUp()
	s.taken(changed, "", version)
	return nil
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s *sink) Bookmark(version string) error {
	if !s.over {
		s.taken(false, s.store.bookmarked(s.gvk.GroupKind(), version), version)
	}
	return nil
}

// taken tells of what changed, or that a rule was broken.
func (s *sink) taken(changed bool, broken rule, version string) {
	switch {
	case broken != "":
		s.over = true
		s.violated(broken, version)
	case changed:
		s.changed(s.gvk.GroupKind())
	}
}

// Resync implements cache.ReflectorStore. Nothing is resynced.
func (s *sink) Resync() error { return nil }
