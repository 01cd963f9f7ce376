package member

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// The times of the probe. With the defaults of Config (5 s and 3 s) a member that hangs is
// unreachable at the latest after 5.5 + 3 + 1.1 + 3 + 1.1 + 3 = 16.7 s, and one that
// returns is reachable 11 s later: within the 20 s and 15 s that are promised.
const (
	probeRetry       = 1 * time.Second        // after a first failure, doubling
	probeRetryMax    = 10 * time.Second       // while the member stays away
	probeSpacing     = 500 * time.Millisecond // between probes, however soon they are asked for
	probeJitter      = 0.1                    // of each pause, up or down
	identityInterval = 5 * time.Minute        // version and UID are read again
)

// prober asks a member whether it is there, and who it is.
type prober struct {
	wire     *wire
	reach    *reach
	interval time.Duration
	timeout  time.Duration
	// replaced is called when the member turns out to be another cluster, before its new
	// identity is told; changed after every change of Reachability.
	replaced func()
	changed  func()
	// soon asks for a probe at once, and again for the identity.
	soon chan struct{}

	// Used by run alone.
	who      identity
	identify bool      // who is to be read again
	readAt   time.Time // when who was read
	askedAt  time.Time // when the last probe began
}

// askSoon never blocks.
func (p *prober) askSoon() {
	select {
	case p.soon <- struct{}{}:
	default:
	}
}

func (p *prober) run(ctx context.Context, log logr.Logger) {
	p.identify = true
	failures := 0
	for ctx.Err() == nil {
		err := p.once(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
		default:
			failures++
		}
		p.record(err, log)
		p.pause(ctx, p.delay(failures))
	}
}

func (p *prober) delay(failures int) time.Duration {
	delay := p.interval
	if failures > 0 {
		delay = min(probeRetry<<min(max(failures-failuresToUnreachable, 0), 10), probeRetryMax)
	}
	return delay + time.Duration((rand.Float64()*2-1)*probeJitter*float64(delay))
}

// pause waits, until a probe is asked for at most.
func (p *prober) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
		return
	case <-p.soon:
		p.identify = true
	}
	timer.Reset(probeSpacing - time.Since(p.askedAt))
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// record turns the outcome of a probe into Reachability, and tells of changes.
func (p *prober) record(err error, log logr.Logger) {
	before := p.reach.get()
	if err == nil && before.UID != "" && p.who.uid != "" && p.who.uid != before.UID {
		log.Info("The member is another cluster now", "was", before.UID, "is", p.who.uid)
		p.replaced()
	}
	if !p.judge(err) {
		return
	}
	after := p.reach.get()
	if before.Reachable != after.Reachable || before.Since.IsZero() {
		p.identify = p.identify || !after.Reachable
		log.Info("Reachability changed", "reachable", after.Reachable, "reason", after.Err, "version", after.Version)
	}
	p.changed()
}

func (p *prober) judge(err error) (changed bool) {
	if err != nil {
		return p.reach.failed(time.Now(), stableText(err))
	}
	return p.reach.succeeded(time.Now(), p.who)
}

// once is one probe. The identity is read before the member counts as reachable: whoever
// sees it reachable sees whose it is.
func (p *prober) once(ctx context.Context) error {
	p.askedAt = time.Now()
	if err := p.ready(ctx); err != nil {
		return err
	}
	if !p.identify && time.Since(p.readAt) < identityInterval {
		return nil
	}
	who, err := p.read(ctx)
	if err != nil {
		return err
	}
	p.who, p.identify, p.readAt = who, false, time.Now()
	return nil
}

// ready asks /readyz, and /version where that is not for us.
func (p *prober) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err := p.wire.get(ctx, "/readyz")
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		_, err = p.wire.get(ctx, "/version")
	}
	return err
}

func (p *prober) read(ctx context.Context) (identity, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	raw, err := p.wire.get(ctx, "/version")
	if err != nil {
		return identity{}, err
	}
	var server version.Info
	if err := json.Unmarshal(raw, &server); err != nil {
		return identity{}, fmt.Errorf("version: %w", err)
	}
	who := identity{version: server.GitVersion}
	raw, err = p.wire.get(ctx, "/api/v1/namespaces/kube-system")
	switch {
	case apierrors.IsForbidden(err):
		who.problem = "the member's identity is unknown: its credentials may not get the namespace kube-system"
		return who, nil
	case err != nil:
		return identity{}, err
	}
	var namespace metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &namespace); err != nil {
		return identity{}, fmt.Errorf("namespace kube-system: %w", err)
	}
	who.uid = namespace.UID
	return who, nil
}
