package member

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// absenceMemory is how long a group version is not asked again for a kind that it was just
// found not to serve.
const absenceMemory = time.Second

// resource is where a kind is served.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// path is the URL path of an object of the resource.
func (r resource) path(namespace, name string) []string {
	path := []string{"/apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"/api", r.Version}
	}
	if r.namespaced {
		path = append(path, "namespaces", namespace)
	}
	return append(path, r.Resource, name)
}

// kinds knows which resource serves a kind. Each group version is read by itself and kept
// until the member denies a resource that should be there; while it cannot be read again,
// the last good answer holds.
//
// controller-runtime's mapper is not used for our own requests: it reads discovery under
// its lock and without a context, so that one dead aggregated API, or a hanging member,
// would hold every caller.
type kinds struct {
	wire *wire

	mu     sync.Mutex
	locked lockedKinds
}

type lockedKinds map[schema.GroupVersion]*groupVersion

type groupVersion struct {
	turn   chan struct{} // held by the one that reads discovery
	served map[string]resource
	stale  bool      // served is to be read again
	readAt time.Time // zero: absent kinds are to be looked for again
}

func newKinds(w *wire) *kinds {
	return &kinds{wire: w, locked: lockedKinds{}}
}

// resolve finds the resource of a kind. A kind that the member does not serve is a
// *meta.NoKindMatchError.
func (k *kinds) resolve(ctx context.Context, gvk schema.GroupVersionKind) (resource, error) {
	gv := gvk.GroupVersion()
	if r, known, err := k.lookup(gvk); known {
		return r, err
	}
	turn := k.turn(gv)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return resource{}, ctx.Err()
	}
	defer func() { <-turn }()
	if r, known, err := k.lookup(gvk); known { // by whoever had the turn before us
		return r, err
	}
	served, err := k.discover(ctx, gv)
	return k.store(gvk, served, err)
}

// lookup answers from memory, where that is good enough.
func (k *kinds) lookup(gvk schema.GroupVersionKind) (r resource, known bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry := k.locked[gvk.GroupVersion()]
	if entry == nil || entry.stale {
		return resource{}, false, nil
	}
	if r, found := entry.served[gvk.Kind]; found {
		return r, true, nil
	}
	if !entry.readAt.IsZero() && time.Since(entry.readAt) < absenceMemory {
		return resource{}, true, notServed(gvk)
	}
	return resource{}, false, nil
}

func (k *kinds) turn(gv schema.GroupVersion) chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry := k.locked[gv]
	if entry == nil {
		entry = &groupVersion{turn: make(chan struct{}, 1), stale: true}
		k.locked[gv] = entry
	}
	return entry.turn
}

// store remembers what was read. A failure changes nothing that was known.
func (k *kinds) store(gvk schema.GroupVersionKind, served map[string]resource, err error) (resource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry := k.locked[gvk.GroupVersion()]
	if err == nil {
		entry.served, entry.stale, entry.readAt = served, false, time.Now()
	}
	if r, found := entry.served[gvk.Kind]; found {
		return r, nil
	}
	if err != nil {
		return resource{}, err
	}
	return resource{}, notServed(gvk)
}

// forget makes the next lookup in a group version read it again: the member said that a
// resource is not there.
func (k *kinds) forget(gv schema.GroupVersion) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if entry := k.locked[gv]; entry != nil {
		entry.stale = true
	}
}

// recheck makes absent kinds be looked for at once: definitions have changed.
func (k *kinds) recheck() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, entry := range k.locked {
		entry.readAt = time.Time{}
	}
}

// reset forgets everything: the member is another cluster.
func (k *kinds) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, entry := range k.locked {
		entry.served, entry.stale = nil, true
	}
}

// discover reads one group version. One that is not there serves nothing.
func (k *kinds) discover(ctx context.Context, gv schema.GroupVersion) (map[string]resource, error) {
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	raw, err := k.wire.get(ctx, path)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("discovery of %s: %w", gv, err)
	}
	served := make(map[string]resource, len(list.APIResources))
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") { // a subresource
			served[r.Kind] = resource{gv.WithResource(r.Name), r.Namespaced}
		}
	}
	return served, nil
}

func notServed(gvk schema.GroupVersionKind) error {
	return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}
