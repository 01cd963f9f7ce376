package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Config says which Lease is the leader's, and how long it holds.
type Config struct {
	// REST reaches the hub. The lock uses a client of its own, so that it never waits
	// behind other requests.
	REST *rest.Config
	// Namespace and Name of the Lease.
	Namespace, Name string
	// Identity of this replica, unlike that of any other, also of an earlier process.
	Identity string
	// LeaseDuration is how long others wait after the last renewal that they saw. 15 s by
	// default.
	LeaseDuration time.Duration
	// RenewDeadline is how long this replica owns members after the beginning of its last
	// renewal. What remains of LeaseDuration is for writes that are under way on a member
	// when ownership ends: at least a fifth. 10 s by default.
	RenewDeadline time.Duration
	// RetryPeriod is the time between renewals. 2 s by default.
	RetryPeriod time.Duration
}

func (c Config) validated() (Config, error) {
	if c.REST == nil {
		return c, errors.New("shard: REST is required")
	}
	if c.Namespace == "" || c.Name == "" || c.Identity == "" {
		return c, errors.New("shard: Namespace, Name and Identity are required")
	}
	timings, err := Timings{LeaseDuration: c.LeaseDuration, RenewDeadline: c.RenewDeadline, RetryPeriod: c.RetryPeriod}.validated()
	if err != nil {
		return c, fmt.Errorf("shard: %w", err)
	}
	c.LeaseDuration, c.RenewDeadline, c.RetryPeriod = timings.LeaseDuration, timings.RenewDeadline, timings.RetryPeriod
	return c, nil
}

// Leadership is the lock of a leader election that knows until when it is held. It
// implements resourcelock.Interface. One election uses it; any goroutine may ask it.
type Leadership struct {
	resourcelock.Interface
	cfg Config

	mu     sync.Mutex
	locked lockedLeadership
}

type lockedLeadership struct {
	until time.Time // zero: not the leader
}

// NewLeadership returns the lock for one replica. It does no I/O.
func NewLeadership(cfg Config) (*Leadership, error) {
	cfg, err := cfg.validated()
	if err != nil {
		return nil, err
	}
	client := rest.CopyConfig(cfg.REST)
	client.Timeout = max(cfg.RenewDeadline/2, time.Second) // one hung renewal must not cost the lease
	leases, err := coordinationv1.NewForConfig(rest.AddUserAgent(client, "leader-election"))
	if err != nil {
		return nil, fmt.Errorf("shard: client for Lease %s/%s: %w", cfg.Namespace, cfg.Name, err)
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: cfg.Namespace, Name: cfg.Name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: cfg.Identity},
	}
	return over(lock, cfg), nil
}

func over(lock resourcelock.Interface, cfg Config) *Leadership {
	return &Leadership{Interface: lock, cfg: cfg}
}

// Configure makes a manager elect its leader by this lock and give it up when the manager
// stops. The election's durations are thereby those that ownership is computed from.
func (l *Leadership) Configure(opts *manager.Options) {
	opts.LeaderElection = true
	opts.LeaderElectionID = l.cfg.Name
	opts.LeaderElectionNamespace = l.cfg.Namespace
	opts.LeaderElectionResourceLockInterface = l
	opts.LeaderElectionReleaseOnCancel = true
	opts.LeaseDuration = &l.cfg.LeaseDuration
	opts.RenewDeadline = &l.cfg.RenewDeadline
	opts.RetryPeriod = &l.cfg.RetryPeriod
}

// ValidUntil is the end of this replica's ownership by the local monotonic clock; false if
// it owns nothing now.
func (l *Leadership) ValidUntil() (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locked.until, time.Now().Before(l.locked.until)
}

// Get implements resourcelock.Interface. Seeing another holder ends ownership at once.
func (l *Leadership) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.end()
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *Leadership) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Create(ctx, record) })
}

// Update implements resourcelock.Interface.
func (l *Leadership) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Update(ctx, record) })
}

// write counts a renewal from before it was sent. A release ends ownership before it is
// sent: the next leader may start as soon as the server has it, however late we hear. A
// write that failed changes nothing here; it may have reached the server all the same, and
// then the time that it would have bought is given away.
func (l *Leadership) write(record resourcelock.LeaderElectionRecord, send func() error) error {
	if record.HolderIdentity != l.Identity() {
		l.end()
		return send()
	}
	began := time.Now()
	if err := send(); err != nil {
		return err
	}
	l.extend(began.Add(l.cfg.RenewDeadline))
	return nil
}

func (l *Leadership) extend(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked.until = until
}

func (l *Leadership) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked.until = time.Time{}
}
