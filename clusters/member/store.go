package member

import (
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// Observation is what is kept of an object on the member: enough to know whether it is
// still what we applied, and whether it is well.
type Observation struct {
	// ID and UID say which object it is.
	ID  object.ID
	UID types.UID
	// ResourceVersion of the object as it was seen. What was seen of one object never goes
	// back.
	ResourceVersion string
	// Generation of the object's spec.
	Generation int64
	// Owned is the digest of the fields that we own (object.Owned).
	Owned string
	// Health as Settings.Health judged it.
	Health object.Health
	// Layer is the value of the annotation that names the home layer.
	Layer string
	// Deleting says that the object waits for its finalizers, or that we have deleted it and the
	// watch does not show yet that it is gone.
	Deleting bool
}

// ownedUnreadable stands for the digest of an object whose managedFields do not parse. It
// equals no digest, and an object that cannot be read is still an object that is there.
const ownedUnreadable = "unreadable"

// observe reduces an object to what is kept of it.
func observe(u *unstructured.Unstructured, health func(*unstructured.Unstructured) object.Health) Observation {
	owned, err := object.Owned(u, v1alpha1.FieldManager)
	if err != nil {
		owned = ownedUnreadable
	}
	o := Observation{
		ID:              object.Of(u),
		UID:             u.GetUID(),
		ResourceVersion: u.GetResourceVersion(),
		Generation:      u.GetGeneration(),
		Owned:           owned,
		Layer:           u.GetAnnotations()[v1alpha1.AnnotationLayer],
		Deleting:        u.GetDeletionTimestamp() != nil,
	}
	if health != nil {
		o.Health = health(u)
	}
	return o
}

// meaning is the observation without what differs on every write.
func (o Observation) meaning() Observation {
	o.ResourceVersion, o.Generation = "", 0
	return o
}

// newer compares versions as the API defines it for objects of one resource. Servers whose
// versions are no numbers (some aggregated ones) are taken at their word: what comes later
// is newer.
func newer(a, than string) bool {
	order, err := resourceversion.CompareResourceVersion(a, than)
	if err != nil {
		return a != than
	}
	return order > 0
}

// older is newer the other way round, and false where versions cannot be compared.
func older(a, than string) bool {
	order, err := resourceversion.CompareResourceVersion(a, than)
	return err == nil && order < 0
}

// store holds the observations of all kinds. Two sources feed it, the watches and the
// answers to our own writes, in no order; what is newer wins.
type store struct {
	mu     sync.Mutex
	locked lockedStore
	// lockedClose are the kinds of which every version counts as a change.
	lockedClose map[schema.GroupKind]bool
}

type lockedStore map[schema.GroupKind]*shelf

// shelf holds the observations of one kind.
type shelf struct {
	// live are the objects that are there, gone the versions at which others went: an
	// older event must not bring them back.
	live map[types.NamespacedName]Observation
	gone map[types.NamespacedName]string
	// going are the objects that we have deleted, until the watch shows that they are gone:
	// what it still delivers of them was before that.
	going map[types.NamespacedName]going
	// synced says that the first list is in.
	synced bool
	// continuity is of what the watch has delivered; our own writes do not count. Swept is
	// its revision at the last bookmark but one.
	continuity continuity
	swept      string
	// problem is why the watch does not work; nil when it does.
	problem error
}

// going is an object that we have deleted.
type going struct {
	uid types.UID
	// since is the revision of the watch when it was; empty if the watch had told nothing.
	since string
}

func newStore() *store { return &store{locked: lockedStore{}} }

// shelf makes room for a kind. The caller holds the lock.
func (s lockedStore) shelf(gk schema.GroupKind) *shelf {
	kept := s[gk]
	if kept == nil {
		kept = &shelf{
			live: map[types.NamespacedName]Observation{}, gone: map[types.NamespacedName]string{},
			going: map[types.NamespacedName]going{},
		}
		s[gk] = kept
	}
	return kept
}

func (s *store) setClose(kinds map[schema.GroupKind]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lockedClose = kinds
}

func (s *store) get(id object.ID) (Observation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.locked[id.GroupKind()]
	if kept == nil {
		return Observation{}, false
	}
	o, found := kept.live[nameOf(id)]
	return o, found
}

func (s *store) synced(gk schema.GroupKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.locked[gk]
	return kept != nil && kept.synced
}

func (s *store) problem(gk schema.GroupKind) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.locked[gk]; kept != nil {
		return kept.problem
	}
	return nil
}

func (s *store) setProblem(gk schema.GroupKind, problem error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked.shelf(gk).problem = problem
}

// record takes an observation from our own write or from the watch, and says whether it
// changed in meaning.
func (s *store) record(o Observation) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.locked.shelf(o.ID.GroupKind()).record(o, s.lockedClose[o.ID.GroupKind()])
}

// deleted takes note that we have deleted an object: however late the watch tells of it, the
// object is not as it was seen any more.
func (s *store) deleted(id object.ID, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, name := s.locked.shelf(id.GroupKind()), nameOf(id)
	kept.going[name] = going{uid, kept.continuity.revision}
	if known, found := kept.live[name]; found && known.UID == uid {
		known.Deleting = true
		kept.live[name] = known
	}
}

// seen is record for what the watch delivers. What breaks a rule is not taken.
func (s *store) seen(o Observation) (changed bool, broken rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.locked.shelf(o.ID.GroupKind())
	known, isKnown := kept.live[nameOf(o.ID)]
	if broken := kept.continuity.event(o, known, isKnown); broken != "" {
		return false, broken
	}
	return kept.record(o, s.lockedClose[o.ID.GroupKind()]), ""
}

// removed takes a deletion that the watch delivered: the object as it last was, at the
// version of its deletion.
func (s *store) removed(last Observation) (changed bool, broken rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.locked.shelf(last.ID.GroupKind())
	known, isKnown := kept.live[nameOf(last.ID)]
	if broken := kept.continuity.deletion(last, known, isKnown); broken != "" {
		return false, broken
	}
	return kept.remove(nameOf(last.ID), last.ResourceVersion), ""
}

// replaced takes a list as it was at a version: what it lacks is gone, unless we know of a
// newer write of our own.
//
// A list that is older than what the watch has delivered before, or that contradicts it,
// means that the server itself went back, as after a restore from a backup. What we knew
// then is no longer so, our own writes included, and the list is all there is.
func (s *store) replaced(gk schema.GroupKind, list []Observation, version string) (changed, wentBack bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.locked.shelf(gk)
	if wentBack = kept.wentBack(list, version); wentBack {
		kept = s.locked.anew(gk, kept.problem)
	}
	listed := make(map[types.NamespacedName]bool, len(list))
	for _, o := range list {
		listed[nameOf(o.ID)] = true
		changed = kept.record(o, s.lockedClose[gk]) || changed
	}
	for name, o := range kept.live {
		if !listed[name] && !newer(o.ResourceVersion, version) {
			changed = kept.remove(name, version) || changed
		}
	}
	changed = changed || wentBack || !kept.synced
	kept.synced = true
	kept.continuity.listed(version)
	kept.sweep()
	return changed, wentBack
}

// bookmarked takes the server's word that the watch has delivered everything up to version.
func (s *store) bookmarked(gk schema.GroupKind, version string) (broken rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.locked.shelf(gk)
	if broken := kept.continuity.bookmark(version); broken != "" {
		return broken
	}
	kept.sweep()
	return ""
}

// begunAnew forgets what was seen of a kind, and says why until a list is in.
func (s *store) begunAnew(gk schema.GroupKind, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked.anew(gk, why)
}

// anew empties the shelf of a kind. The caller holds the lock.
func (s lockedStore) anew(gk schema.GroupKind, problem error) *shelf {
	delete(s, gk)
	kept := s.shelf(gk)
	kept.problem = problem
	return kept
}

// keepOnly drops what is known of other kinds.
func (s *store) keepOnly(wanted map[schema.GroupKind]schema.GroupVersionKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for gk := range s.locked {
		if _, found := wanted[gk]; !found {
			delete(s.locked, gk)
		}
	}
}

// reset forgets everything: the member is another cluster.
func (s *store) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.locked)
}

// drop forgets one kind: its watch begins anew.
func (s *store) drop(gk schema.GroupKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.locked, gk)
}

func (s *shelf) wentBack(list []Observation, version string) bool {
	if s.continuity.precedes(version) {
		return true
	}
	return slices.ContainsFunc(list, func(o Observation) bool {
		known, isKnown := s.live[nameOf(o.ID)]
		return isKnown && contradicts(o, version, known)
	})
}

func (s *shelf) record(o Observation, closely bool) (changed bool) {
	name := nameOf(o.ID)
	if at, gone := s.gone[name]; gone && !newer(o.ResourceVersion, at) {
		return false
	}
	before, found := s.live[name]
	if found && !newer(o.ResourceVersion, before.ResourceVersion) {
		return false
	}
	delete(s.gone, name)
	o.Deleting = o.Deleting || s.going[name].uid == o.UID
	s.live[name] = o
	return !found || closely || before.meaning() != o.meaning()
}

func (s *shelf) remove(name types.NamespacedName, version string) (changed bool) {
	before, found := s.live[name]
	if found && newer(before.ResourceVersion, version) {
		return false
	}
	delete(s.live, name)
	delete(s.going, name)
	s.gone[name] = version
	return found
}

// sweep drops the memory of deletions that are older than a bookmark ago, a minute or so:
// longer than any answer to a write of ours is under way.
func (s *shelf) sweep() {
	past := func(version string) bool { return s.swept != "" && (version == "" || older(version, s.swept)) }
	maps.DeleteFunc(s.gone, func(_ types.NamespacedName, version string) bool { return past(version) })
	maps.DeleteFunc(s.going, func(_ types.NamespacedName, g going) bool { return past(g.since) })
	s.swept = s.continuity.revision
}

func nameOf(id object.ID) types.NamespacedName {
	return types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
}

// sighting carries an observation through a reflector, which wants to see metadata.
type sighting struct {
	metav1.ObjectMeta
	seen Observation
}
