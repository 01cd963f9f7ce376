package member

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/syncline-dev/syncline/clusters/credential"
	"github.com/syncline-dev/syncline/clusters/registration"
)

// disconnectTimeout is how long Disconnect waits for a member's goroutines.
const disconnectTimeout = 10 * time.Second

// engageBackoff paces attempts to engage a member with controllers that refuse it.
var engageBackoff = wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 10, Cap: 30 * time.Second}

// ProviderConfig is what a Provider is made of.
type ProviderConfig struct {
	// Settings of every member.
	Settings
	// Admission is that of a member: see Config.Admission.
	Admission func(types.NamespacedName) Admission
	// Gate stops the writes to all members: the red button.
	Gate *Gate
	// Notify is called when something changed on a member that a reconcile should see; see
	// Config.Notify. May be nil.
	Notify func(types.NamespacedName)
	// Unauthorized is called when a member does not accept its credentials: its Secret
	// should be read again. It must return at once; it is called every few seconds at most.
	// May be nil.
	Unauthorized func(types.NamespacedName)
}

func (c ProviderConfig) validated() (ProviderConfig, error) {
	c.Settings = c.defaulted()
	if c.Notify == nil {
		c.Notify = func(types.NamespacedName) {}
	}
	if c.Unauthorized == nil {
		c.Unauthorized = func(types.NamespacedName) {}
	}
	if c.Admission == nil || c.Gate == nil {
		return c, errors.New("member: Admission and Gate are required")
	}
	return c, c.validate()
}

// Provider holds the connected members and engages them with multicluster-runtime's
// manager. It implements multicluster.Provider, and is safe for concurrent use. It is no
// multicluster.ProviderRunnable: the manager would run that on the leader alone.
//
// Members live under the context of Run, never under that of a request, and each in
// goroutines of its own: none waits for another.
type Provider struct {
	cfg ProviderConfig

	mu     sync.Mutex
	locked lockedProvider
}

type lockedProvider struct {
	members map[types.NamespacedName]*connection
	// launch runs a connection; nil before Run and after its end.
	launch func(*connection)
}

// connection is one stay of a member. It is the token by which it is removed.
type connection struct {
	key       types.NamespacedName
	member    *Member
	transport *credential.Transport
	cancel    context.CancelFunc // nil until launched
	done      chan struct{}      // closed when everything has ended

	mu     sync.Mutex
	locked lockedConnection
}

type lockedConnection struct {
	digest string // of the credentials in use
}

var _ multicluster.Provider = &Provider{}

// NewProvider returns a provider without members.
func NewProvider(cfg ProviderConfig) (*Provider, error) {
	cfg, err := cfg.validated()
	if err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg, locked: lockedProvider{members: map[types.NamespacedName]*connection{}}}, nil
}

// ClusterName is the name of a member for multicluster-runtime: "<namespace>/<name>".
func ClusterName(key types.NamespacedName) multicluster.ClusterName {
	return multicluster.ClusterName(key.String())
}

// Connect connects a member, or replaces the credentials of one that is connected; with the
// credentials in use it does nothing. It does no I/O: whether the member answers is told by
// Member.Reachability, and changes by Notify. A member that is new writes nothing before
// its SetPaused was called.
func (p *Provider) Connect(_ context.Context, key types.NamespacedName, reg *registration.Registration) error {
	if c := p.connection(key); c != nil {
		return c.replace(reg)
	}
	c, err := p.newConnection(key, reg)
	if err != nil {
		return err
	}
	if other := p.add(c); other != nil { // somebody else was faster
		c.transport.Close()
		return other.replace(reg)
	}
	return nil
}

func (p *Provider) newConnection(key types.NamespacedName, reg *registration.Registration) (*connection, error) {
	transport, err := credential.New(reg.Config, credential.Options{
		OnUnauthorized: func() { p.cfg.Unauthorized(key) },
	})
	if err != nil {
		return nil, fmt.Errorf("connect %s: %w", key, err)
	}
	member, err := New(Config{
		Settings:  p.cfg.Settings,
		Name:      ClusterName(key),
		REST:      transport.RESTConfig(key.String()),
		Admission: p.cfg.Admission(key),
		Gates:     []*Gate{p.cfg.Gate},
		Notify:    func() { p.cfg.Notify(key) },
	})
	if err != nil {
		return nil, fmt.Errorf("connect %s: %w", key, err)
	}
	return &connection{
		key:       key,
		member:    member,
		transport: transport,
		done:      make(chan struct{}),
		locked:    lockedConnection{digest: reg.Digest},
	}, nil
}

// add launches a connection, unless there is another under its key, which it returns.
func (p *Provider) add(c *connection) (other *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.locked.members[c.key]; other != nil {
		return other
	}
	p.locked.members[c.key] = c
	if p.locked.launch != nil {
		p.locked.launch(c)
	}
	return nil
}

// replace takes other credentials into use.
func (c *connection) replace(reg *registration.Registration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locked.digest == reg.Digest {
		return nil
	}
	if err := c.transport.Replace(reg.Config); err != nil {
		return fmt.Errorf("replace credentials of %s: %w", c.key, err)
	}
	c.locked.digest = reg.Digest
	c.member.Refresh()
	return nil
}

// Disconnect forgets a member and stops everything that concerns it. It waits for that,
// but not for long: what is left ends by itself, and Run waits for it.
func (p *Provider) Disconnect(key types.NamespacedName) {
	c := p.remove(key)
	if c == nil {
		return
	}
	timer := time.NewTimer(disconnectTimeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
}

// remove takes a connection out and ends it.
func (p *Provider) remove(key types.NamespacedName) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.locked.members[key]
	if c == nil {
		return nil
	}
	delete(p.locked.members, key)
	if c.cancel == nil {
		c.transport.Close()
		close(c.done)
	} else {
		c.cancel()
	}
	return c
}

func (p *Provider) connection(key types.NamespacedName) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locked.members[key]
}

// Member is a connected member.
func (p *Provider) Member(key types.NamespacedName) (*Member, bool) {
	c := p.connection(key)
	if c == nil {
		return nil, false
	}
	return c.member, true
}

// Get implements multicluster.Provider.
func (p *Provider) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	namespace, cluster, _ := strings.Cut(name.String(), "/")
	if m, found := p.Member(types.NamespacedName{Namespace: namespace, Name: cluster}); found {
		return m, nil
	}
	return nil, fmt.Errorf("%w: %s", multicluster.ErrClusterNotFound, name)
}

// IndexField implements multicluster.Provider. Members have no object cache that could be
// indexed: it always fails, with errors.ErrUnsupported.
func (p *Provider) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return fmt.Errorf("member: index a field of members' objects: %w", errors.ErrUnsupported)
}

// Run runs all members, those connected before and those connected later, until ctx is done.
// It returns when all have ended.
func (p *Provider) Run(ctx context.Context, aware multicluster.Aware) error {
	var running sync.WaitGroup
	p.open(func(c *connection) {
		ctx, cancel := context.WithCancel(ctx)
		c.cancel = cancel
		running.Go(func() { c.run(ctx, aware) })
	})
	<-ctx.Done()
	p.close()
	running.Wait()
	return nil
}

// open launches what is connected, and makes add launch the rest.
func (p *Provider) open(launch func(*connection)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locked.launch = launch
	for _, c := range p.locked.members {
		launch(c)
	}
}

// close forgets all members. Their contexts have ended with that of Run.
func (p *Provider) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locked = lockedProvider{members: map[types.NamespacedName]*connection{}}
}

// run is the life of a connection.
func (c *connection) run(ctx context.Context, aware multicluster.Aware) {
	defer close(c.done)
	defer c.transport.Drain() // a write that is cut off costs the member's next owner a wait
	defer c.cancel()
	log := logf.FromContext(ctx).WithValues("member", c.key)
	log.Info("Member connected", "endpoint", c.transport.Endpoint())
	defer log.Info("Member disconnected")
	var engaging sync.WaitGroup
	defer engaging.Wait()
	engaging.Go(func() { c.engage(ctx, aware) })
	if err := c.member.Start(ctx); err != nil && ctx.Err() == nil {
		log.Error(err, "Member stopped")
	}
}

// engage has the controllers take the member up, for as long as it stays.
func (c *connection) engage(ctx context.Context, aware multicluster.Aware) {
	backoff := engageBackoff
	for attempt := 0; ctx.Err() == nil; attempt++ {
		err := aware.Engage(ctx, ClusterName(c.key), c.member)
		if err == nil || ctx.Err() != nil {
			return
		}
		if attempt == 0 {
			logf.FromContext(ctx).Error(err, "Controllers do not take up a member", "member", c.key)
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}
