package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// timedRotations are made one at a time, rotationPause apart: probes, by which the
	// change is seen, are half a second apart.
	timedRotations = 20
	rotationPause  = time.Second
	// rotationPace is the time between the many.
	rotationPace = 100 * time.Millisecond
	// drained is how long old connections may take to end, and a little more.
	drained = 45 * time.Second
)

// rotation: new credentials of one member until the first request with them, what is
// listed anew for it, and what many rotations leave behind.
func (b *bench) rotation(ctx context.Context) error {
	say("%d single rotations, then %d", timedRotations, b.rotations)
	r := &rotations{bench: b, member: b.fleet.Members()[0]}
	before, err := b.footprint(ctx, quiet, footprint{})
	if err != nil {
		return err
	}
	begin, began := r.member.Audit().End(), time.Now()
	var times []time.Duration
	for range timedRotations {
		took, err := r.one(ctx)
		if err != nil {
			return err
		}
		times = append(times, took)
		time.Sleep(rotationPause)
	}
	for range b.rotations - 1 {
		if _, err := r.next(ctx); err != nil {
			return err
		}
		time.Sleep(rotationPace)
	}
	if _, err := r.one(ctx); err != nil {
		return err
	}
	after, err := b.footprint(ctx, drained, before)
	if err != nil {
		return err
	}
	lists, err := r.lists(begin, began)
	if err != nil {
		return err
	}
	figure("rotation_s", percentile(times, 0.99).Seconds(), "s")
	figure("rotation_lists", float64(lists), "requests")
	figure("rotation_heap_growth", after.heap/before.heap-1, "ratio")
	figure("rotation_goroutine_growth", float64(after.goroutines-before.goroutines), "goroutines")
	return b.restore(ctx, r.member)
}

// rotations gives one member one user after another.
type rotations struct {
	*bench
	member *fleet.Cluster
	made   int
}

// next puts new credentials into the member's Secret and tells whose they are.
func (r *rotations) next(ctx context.Context) (user string, err error) {
	r.made++
	user = fmt.Sprintf("bench-%d", r.made)
	kubeconfig, err := r.member.KubeconfigFor(user, mastersGroup)
	if err != nil {
		return "", err
	}
	return user, r.writeKubeconfig(ctx, r.member, kubeconfig)
}

// one is a rotation, timed until the member hears from the new user.
func (r *rotations) one(ctx context.Context) (time.Duration, error) {
	since, began := r.member.Audit().End(), time.Now()
	user, err := r.next(ctx)
	if err != nil {
		return 0, err
	}
	heard, err := hears(ctx, r.member, since, user)
	return heard.Sub(began), err
}

// lists counts the lists that Syncline asked of the member, the streamed ones included. A
// watch is in the audit log once it has ended, as all but those of the last user have.
func (r *rotations) lists(since fleet.AuditOffset, began time.Time) (int, error) {
	events, _, err := r.member.Audit().Events(since, fleet.ByUserAgent("syncline"), func(e *auditv1.Event) bool {
		streamed := e.Verb == "watch" && strings.Contains(e.RequestURI, "sendInitialEvents=true")
		return (e.Verb == "list" || streamed) && e.RequestReceivedTimestamp.After(began)
	})
	return len(events), err
}

// mastersGroup may do everything on a member.
const mastersGroup = "system:masters"

// reconnect puts a user's kubeconfig into a member's Secret and waits until it is used.
func (b *bench) reconnect(ctx context.Context, m *fleet.Cluster, user string, kubeconfig []byte) error {
	since := m.Audit().End()
	if err := b.writeKubeconfig(ctx, m, kubeconfig); err != nil {
		return err
	}
	_, err := hears(ctx, m, since, user)
	return err
}

// restore connects a member directly, as it was at first.
func (b *bench) restore(ctx context.Context, m *fleet.Cluster) error {
	const user = "bench-restored"
	kubeconfig, err := m.KubeconfigFor(user, mastersGroup)
	if err != nil {
		return err
	}
	return b.reconnect(ctx, m, user, kubeconfig)
}

// hears waits until a member has had a request of a user, and tells when that was.
func hears(ctx context.Context, m *fleet.Cluster, since fleet.AuditOffset, user string) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = until(ctx, func(context.Context) (bool, error) {
		events, end, err := m.Audit().Events(since, fleet.ByUser(user))
		since = end
		if len(events) > 0 {
			at = events[0].RequestReceivedTimestamp.Time
		}
		return len(events) > 0, err
	})
	if err != nil {
		return at, fmt.Errorf("%s has not heard from %s: %w", m.Name(), user, err)
	}
	return at, nil
}

// writeKubeconfig puts a kubeconfig into a member's Secret.
func (b *bench) writeKubeconfig(ctx context.Context, m *fleet.Cluster, kubeconfig []byte) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: m.Name() + "-kubeconfig"}}
	before := secret.DeepCopy()
	secret.Data = map[string][]byte{"value": kubeconfig}
	if err := b.hub.Patch(ctx, secret, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("kubeconfig of %s: %w", m.Name(), err)
	}
	return nil
}
