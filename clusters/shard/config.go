package shard

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/utils/clock"
)

// Timings of ownership. All replicas should have the same, but safety does not need it: a
// Lease says how long it is to be respected.
type Timings struct {
	// LeaseDuration is how long others wait after they last saw a Lease renewed. 15 s by
	// default; at most 5 minutes.
	LeaseDuration time.Duration
	// RenewDeadline is how long something is owned after the beginning of its last renewal.
	// What remains of LeaseDuration is for writes that are under way on a member when
	// ownership ends: at least a fifth. 10 s by default.
	RenewDeadline time.Duration
	// RetryPeriod is the time between renewals. 2 s by default.
	RetryPeriod time.Duration
}

// LongestLease is the longest LeaseDuration. It bounds what a Lease may say of itself: a person's slip of the keyboard must
// not leave members without an owner for days.
const LongestLease = 5 * time.Minute

func (t Timings) validated() (Timings, error) {
	t.LeaseDuration = cmp.Or(t.LeaseDuration, 15*time.Second)
	t.RenewDeadline = cmp.Or(t.RenewDeadline, 10*time.Second)
	t.RetryPeriod = cmp.Or(t.RetryPeriod, 2*time.Second)
	switch {
	case t.RetryPeriod < 0 || t.RenewDeadline <= t.RetryPeriod:
		return t, fmt.Errorf("RenewDeadline %s must exceed RetryPeriod %s, which must be positive", t.RenewDeadline, t.RetryPeriod)
	case t.RenewDeadline > t.LeaseDuration-t.LeaseDuration/5:
		return t, fmt.Errorf("RenewDeadline %s must leave a fifth of LeaseDuration %s for writes under way", t.RenewDeadline, t.LeaseDuration)
	case t.LeaseDuration > LongestLease:
		return t, fmt.Errorf("LeaseDuration %s exceeds %s", t.LeaseDuration, LongestLease)
	}
	return t, nil
}

// TakeoverBound is how long a member may be without an owner when a replica has died.
func (t Timings) TakeoverBound() time.Duration { return t.LeaseDuration + t.RetryPeriod + time.Second }

// grace is how long a write may take to reach a member after it was cut off.
func (t Timings) grace() time.Duration { return t.LeaseDuration - t.RenewDeadline }

// callTimeout bounds a call for a Lease: one that hangs leaves time for another before the
// renew deadline.
func (t Timings) callTimeout() time.Duration { return (t.RenewDeadline - t.RetryPeriod) / 2 }

// The most that a ReplicaConfig may say.
const (
	MostShards = 1024
	MostWeight = 1000
)

// ReplicaConfig says who a replica is and how it shares members with others.
type ReplicaConfig struct {
	Timings
	// Name of this replica, as people know it: the pod's name. Of two that run under one
	// name, the second waits until the first has gone.
	Name string
	// Instance tells this process from every other that runs or ran under the name. Random
	// by default.
	Instance string
	// Weight is this replica's share of the members relative to others'. 1 by default.
	Weight int
	// Shards is the number of shards. It is recorded on the hub by the first replica; one
	// that has another number does not start. 64 by default.
	Shards int
	// Reader and Writer reach the Leases of one namespace of the hub. All replicas use the
	// same namespace.
	Reader LeaseReader
	Writer LeaseWriter
	// Clock is this machine's, with a monotonic reading. The real one by default.
	Clock clock.Clock
}

func (c ReplicaConfig) validated() (ReplicaConfig, error) {
	var err error
	if c.Timings, err = c.Timings.validated(); err != nil {
		return c, fmt.Errorf("shard: %w", err)
	}
	c.Weight = cmp.Or(c.Weight, 1)
	c.Shards = cmp.Or(c.Shards, 64)
	c.Instance = cmp.Or(c.Instance, uuid.NewString()[:8])
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	switch {
	case c.Reader == nil || c.Writer == nil:
		return c, errors.New("shard: Reader and Writer are required")
	case c.Name == "":
		return c, errors.New("shard: Name is required")
	case strings.Contains(c.Instance, instanceSeparator):
		return c, fmt.Errorf("shard: Instance %q contains %q", c.Instance, instanceSeparator)
	case c.Weight < 1 || c.Weight > MostWeight:
		return c, fmt.Errorf("shard: Weight %d is not between 1 and %d", c.Weight, MostWeight)
	case c.Shards < 1 || c.Shards > MostShards:
		return c, fmt.Errorf("shard: Shards %d is not between 1 and %d", c.Shards, MostShards)
	}
	return c, nil
}

// identity is what this process writes as the holder of Leases.
func (c ReplicaConfig) identity() string { return c.Name + instanceSeparator + c.Instance }

const instanceSeparator = "_"

// replicaName is the name of the replica that an identity belongs to.
func replicaName(identity string) string {
	if i := strings.LastIndex(identity, instanceSeparator); i >= 0 {
		return identity[:i]
	}
	return identity
}
