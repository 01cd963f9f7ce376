package shard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// fakeLock is a Lease in memory, as one replica reaches it.
type fakeLock struct {
	resourcelock.Interface
	identity string
	holder   string
	latency  time.Duration // of every call; its effect is in the middle
	err      error         // of every call
}

func (f *fakeLock) Identity() string   { return f.identity }
func (f *fakeLock) Describe() string   { return "fake" }
func (f *fakeLock) RecordEvent(string) {}

func (f *fakeLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	time.Sleep(f.latency)
	return &resourcelock.LeaderElectionRecord{HolderIdentity: f.holder, LeaseDurationSeconds: 15}, []byte(f.holder), f.err
}

func (f *fakeLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.Update(ctx, record)
}

func (f *fakeLock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	time.Sleep(f.latency / 2)
	if f.err == nil {
		f.holder = record.HolderIdentity
	}
	time.Sleep(f.latency / 2)
	return f.err
}

func newTestLeadership(t *testing.T, lock *fakeLock) *Leadership {
	t.Helper()
	cfg, err := Config{REST: &rest.Config{}, Namespace: "syncline", Name: "manager", Identity: lock.identity}.validated()
	if err != nil {
		t.Fatal(err)
	}
	return over(lock, cfg)
}

func (l *Leadership) renew(t *testing.T) {
	t.Helper()
	if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: l.Identity()}); err != nil {
		t.Fatal(err)
	}
}

func (l *Leadership) owns() bool {
	_, ok := l.ValidUntil()
	return ok
}

func TestOwnershipEndsTheRenewDeadlineAfterARenewalBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestLeadership(t, &fakeLock{identity: "a", latency: 4 * time.Second})
		if l.owns() {
			t.Fatal("owns members before the first renewal")
		}
		began := time.Now()
		l.renew(t)
		until, ok := l.ValidUntil()
		if !ok || !until.Equal(began.Add(10*time.Second)) {
			t.Errorf("valid until %s after the beginning (%v), want 10 s", until.Sub(began), ok)
		}
		time.Sleep(time.Until(until) - time.Nanosecond)
		if !l.owns() {
			t.Error("lost ownership early")
		}
		time.Sleep(time.Nanosecond)
		if l.owns() {
			t.Error("owns members past the end")
		}
	})
}

// F16: a replica that is stopped during a renewal, and resumed when others may lead, owns
// nothing, although its renewal succeeded.
func TestARenewalThatTookTooLongBuysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestLeadership(t, &fakeLock{identity: "a", latency: 40 * time.Second})
		l.renew(t)
		if l.owns() {
			t.Error("owns members after a renewal that began 40 s ago")
		}
	})
}

func TestAFailedRenewalChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &fakeLock{identity: "a"}
		l := newTestLeadership(t, lock)
		l.renew(t)
		before, _ := l.ValidUntil()
		time.Sleep(time.Second)
		lock.err = errors.New("timeout")
		if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "a"}); err == nil {
			t.Fatal("the error is swallowed")
		}
		if after, ok := l.ValidUntil(); !ok || !after.Equal(before) {
			t.Errorf("valid until %v (%v), was %v", after, ok, before)
		}
	})
}

func TestAReleaseEndsOwnershipBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &fakeLock{identity: "a"}
		l := newTestLeadership(t, lock)
		l.renew(t)
		lock.latency = 2 * time.Second
		go func() { _ = l.Update(t.Context(), resourcelock.LeaderElectionRecord{}) }()
		synctest.Wait()
		if l.owns() {
			t.Error("owns members while the release is under way")
		}
		time.Sleep(lock.latency)
	})
}

func TestSeeingAnotherHolderEndsOwnership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &fakeLock{identity: "a"}
		l := newTestLeadership(t, lock)
		l.renew(t)
		if _, _, err := l.Get(t.Context()); err != nil || !l.owns() {
			t.Errorf("seeing ourselves ended ownership (%v)", err)
		}
		lock.holder = "b"
		if _, _, err := l.Get(t.Context()); err != nil || l.owns() {
			t.Errorf("owns members beside another holder (%v)", err)
		}
	})
}

// The real elector keeps ownership unbroken, and gives it up when it stops.
func TestUnderTheElector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestLeadership(t, &fakeLock{identity: "a", latency: 100 * time.Millisecond})
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:            l,
			LeaseDuration:   l.cfg.LeaseDuration,
			RenewDeadline:   l.cfg.RenewDeadline,
			RetryPeriod:     l.cfg.RetryPeriod,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); elector.Run(ctx) }()
		time.Sleep(time.Second)
		for range 600 {
			if !l.owns() {
				t.Fatal("ownership was interrupted")
			}
			time.Sleep(100 * time.Millisecond)
		}
		cancel()
		<-done
		if l.owns() {
			t.Error("owns members after the elector stopped")
		}
	})
}

func TestConfigureAgreesWithOwnership(t *testing.T) {
	l, err := NewLeadership(Config{REST: &rest.Config{}, Namespace: "n", Name: "l", Identity: "a", LeaseDuration: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var opts manager.Options
	l.Configure(&opts)
	if !opts.LeaderElection || !opts.LeaderElectionReleaseOnCancel || opts.LeaderElectionResourceLockInterface != l ||
		*opts.LeaseDuration != time.Minute || *opts.RenewDeadline != 10*time.Second || *opts.RetryPeriod != 2*time.Second {
		t.Errorf("got %+v", opts)
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{REST: &rest.Config{}, Namespace: "n", Name: "l", Identity: "a"}
	for name, spoil := range map[string]func(*Config){
		"no client":                 func(c *Config) { c.REST = nil },
		"no identity":               func(c *Config) { c.Identity = "" },
		"no time for writes":        func(c *Config) { c.RenewDeadline = 14 * time.Second },
		"deadline before the retry": func(c *Config) { c.RetryPeriod = 10 * time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			spoil(&cfg)
			if _, err := NewLeadership(cfg); err == nil {
				t.Error("is accepted")
			}
		})
	}
}
