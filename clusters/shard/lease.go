package shard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// LeaseReader reads the Leases of one namespace. client-go's LeaseInterface is one. Its
// answers may be old, but not older than an answer that it gave before.
type LeaseReader interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*coordinationv1.Lease, error)
	List(ctx context.Context, opts metav1.ListOptions) (*coordinationv1.LeaseList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// LeaseWriter changes the Leases of one namespace. client-go's LeaseInterface is one. A
// write fails unless the Lease is in the version that it names.
type LeaseWriter interface {
	Create(ctx context.Context, lease *coordinationv1.Lease, opts metav1.CreateOptions) (*coordinationv1.Lease, error)
	Update(ctx context.Context, lease *coordinationv1.Lease, opts metav1.UpdateOptions) (*coordinationv1.Lease, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

const (
	// LeaseLabel is on every Lease of this package: its value is the Lease's kind.
	LeaseLabel = "syncline.dev/lease"

	kindReplica = "replica"
	kindShard   = "shard"
	kindRecord  = "record"

	// shardsAnnotation is the number of shards: in the record what is agreed, and on the
	// Lease of a replica what that one has.
	shardsAnnotation = "syncline.dev/shards"
	weightAnnotation = "syncline.dev/weight"
	// epochAnnotation is the highest epoch that the replica has seen; in the record, that one
	// which has left had seen.
	epochAnnotation = "syncline.dev/epoch"
	// releasedAnnotation is the epoch in which the Lease's holder stopped writing and gave it
	// back. A holder that is merely missing proves nothing: a person may have removed it.
	releasedAnnotation = "syncline.dev/released"

	// claimAnnotation repeats the holder of a shard's Lease. Where the two differ, a person has
	// edited the holder, and whoever is named there has not begun to own the shard.
	claimAnnotation = "syncline.dev/claim"

	recordName    = "syncline-shards"
	shardPrefix   = "syncline-shard-"
	replicaPrefix = "syncline-replica-"
)

func shardLeaseName(shard int) string { return fmt.Sprintf("%s%04d", shardPrefix, shard) }

// replicaLeaseName holds any name of a replica, and none collide.
func replicaLeaseName(replica string) string {
	return fmt.Sprintf("%s%x", replicaPrefix, sha256.Sum256([]byte(replica)))[:len(replicaPrefix)+16]
}

// sighting is the latest that this replica knows of a Lease.
type sighting struct {
	// version is the resourceVersion at which the Lease was so; nothing older counts.
	version string
	// lease is nil if there is none. It is never changed.
	lease *coordinationv1.Lease
	// since is when, by the local clock, it was first seen so. What the Lease says of times
	// was written by another clock and is for people.
	since time.Time
}

// older reports whether a resourceVersion precedes another, as the API orders them. What
// cannot be compared is not older.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// newer reports whether a resourceVersion tells more than another. What cannot be compared
// does.
func newer(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err != nil || order > 0
}

func (s *sighting) holder() string {
	if s.lease == nil {
		return ""
	}
	return ptr.Deref(s.lease.Spec.HolderIdentity, "")
}

func (s *sighting) epoch() int {
	if s.lease == nil {
		return 0
	}
	return int(ptr.Deref(s.lease.Spec.LeaseTransitions, 0))
}

func (s *sighting) number(annotation string) int {
	if s.lease == nil {
		return 0
	}
	n, err := strconv.Atoi(s.lease.Annotations[annotation])
	if err != nil {
		return 0
	}
	return n
}

func (s *sighting) released() bool {
	return s.lease != nil && s.holder() == "" && s.number(releasedAnnotation) == s.epoch() && s.epoch() > 0
}

// freeAt is from when, by the local clock, nobody else can be writing under the Lease. The
// Lease of a holder that wants a longer time is respected as long. One without a holder is no
// exception, unless its last one has given it back.
func (s *sighting) freeAt(duration time.Duration) time.Time {
	if s.released() {
		return s.since
	}
	if s.lease != nil {
		wanted := time.Duration(ptr.Deref(s.lease.Spec.LeaseDurationSeconds, 0)) * time.Second
		duration = max(duration, min(wanted, LongestLease))
	}
	return s.since.Add(duration)
}

// term is what a replica writes to a Lease.
type term struct {
	name, kind  string
	holder      string // empty to give the Lease back
	epoch       int
	duration    time.Duration
	annotations map[string]string
}

// over is the Lease that is in its next version what the term says. Labels and annotations
// of others are kept.
func (t term) over(last *coordinationv1.Lease, now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{}
	if last != nil {
		lease = last.DeepCopy()
	}
	lease.Name = t.name
	metav1.SetMetaDataLabel(&lease.ObjectMeta, LeaseLabel, t.kind)
	delete(lease.Annotations, releasedAnnotation)
	delete(lease.Annotations, claimAnnotation)
	if len(t.annotations) > 0 && lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	maps.Copy(lease.Annotations, t.annotations)
	at := metav1.NewMicroTime(now)
	if ptr.Deref(lease.Spec.HolderIdentity, "") != t.holder || int(ptr.Deref(lease.Spec.LeaseTransitions, 0)) != t.epoch {
		lease.Spec.AcquireTime = &at
	}
	lease.Spec.HolderIdentity = &t.holder
	lease.Spec.RenewTime = &at
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(math.Ceil(t.duration.Seconds())))
	lease.Spec.LeaseTransitions = ptr.To(int32(t.epoch))
	return lease
}
