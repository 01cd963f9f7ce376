package member

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// Settings are what all members of a hub have in common.
type Settings struct {
	// HubID is the value of v1alpha1.LabelHub on our objects: what watches select.
	HubID string
	// Health judges a live object; it must be pure and fast. By default nothing is judged.
	Health func(*unstructured.Unstructured) object.Health
	// Scheme of GetClient. client-go's by default.
	Scheme *runtime.Scheme
	// Replica is the name of this replica, which members' audit logs show.
	Replica string
	// QPS and Burst limit requests to one member on this side; probes are not counted. By
	// default nothing does: the member's own priority and fairness decides.
	QPS   float32
	Burst int
	// RequestTimeout bounds one request other than a watch. 10 s by default, which is the
	// default of admission webhooks.
	RequestTimeout time.Duration
	// ProbeInterval is the pause between probes of a member that answers, and ProbeTimeout
	// the time that each has. 5 s and 3 s by default: with these a member that hangs is
	// unreachable within 20 s, and one that returns is reachable within 15 s.
	ProbeInterval time.Duration
	ProbeTimeout  time.Duration
	// Schemas is shared by the members. A cache of its own by default.
	Schemas *SchemaCache
}

// Config is what one member is made of.
type Config struct {
	Settings
	// Name is "<namespace>/<name>" of the MemberCluster.
	Name multicluster.ClusterName
	// REST holds a host and a Transport and no credentials, as
	// credential.Transport.RESTConfig returns it.
	REST *rest.Config
	// Admission is asked before every write, and after it has passed the gates: the member's
	// own and those that are given.
	Admission Admission
	Gates     []*Gate
	// Notify is called when something changed that a reconcile should see: reachability, an
	// observation, whether a kind can be watched, whether writing is paused. It runs on the
	// member's goroutines, often, and must not block: a workqueue's Add. May be nil.
	Notify func()
}

func (s Settings) defaulted() Settings {
	if s.Scheme == nil {
		s.Scheme = scheme.Scheme
	}
	if s.RequestTimeout == 0 {
		s.RequestTimeout = 10 * time.Second
	}
	if s.ProbeInterval == 0 {
		s.ProbeInterval = 5 * time.Second
	}
	if s.ProbeTimeout == 0 {
		s.ProbeTimeout = 3 * time.Second
	}
	if s.Schemas == nil {
		s.Schemas = NewSchemaCache()
	}
	return s
}

func (s Settings) validate() error {
	switch {
	case s.HubID == "":
		return errors.New("member: HubID is required: without it watches would select nothing of ours")
	case s.Replica == "":
		return errors.New("member: Replica is required")
	case s.QPS < 0 || s.Burst < 0 || (s.QPS > 0) != (s.Burst > 0):
		return errors.New("member: QPS and Burst must both be positive, or both absent")
	case s.RequestTimeout < 0 || s.ProbeInterval < 0 || s.ProbeTimeout < 0:
		return errors.New("member: RequestTimeout, ProbeInterval and ProbeTimeout must not be negative")
	}
	return nil
}

// limiter is shared by all clients of one member; nil without a limit.
func (s Settings) limiter() flowcontrol.RateLimiter {
	if s.QPS == 0 {
		return nil
	}
	return flowcontrol.NewTokenBucketRateLimiter(s.QPS, s.Burst)
}

func (c Config) validated() (Config, error) {
	c.Settings = c.defaulted()
	if c.Notify == nil {
		c.Notify = func() {}
	}
	switch {
	case c.Name.Empty():
		return c, errors.New("member: Name is required")
	case c.REST == nil || c.REST.Transport == nil:
		return c, fmt.Errorf("member: %s: REST needs a Transport that the guard can stand before", c.Name)
	case c.Admission == nil:
		return c, fmt.Errorf("member: %s: Admission is required", c.Name)
	}
	return c, c.validate()
}

// Member is one connected member. It is safe for concurrent use. It implements
// cluster.Cluster; every client made from it or from its GetConfig passes the guard.
type Member struct {
	cluster.Cluster
	cfg     Config
	gate    *Gate
	wire    *wire
	kinds   *kinds
	store   *store
	watches *watches
	reach   *reach
	prober  *prober
	schemas *schemas
}

// New makes a member and does no I/O. Nothing is known of it, and nothing written to it,
// before Start runs and SetPaused was called.
func New(cfg Config) (*Member, error) {
	cfg, err := cfg.validated()
	if err != nil {
		return nil, err
	}
	m := &Member{
		cfg:   cfg,
		gate:  NewGate("MemberCluster " + cfg.Name.String()),
		store: newStore(),
		reach: &reach{},
	}
	seeing := &sightings{next: cfg.REST.Transport, seen: m.answered}
	admission := gated{cfg.Admission, append(slices.Clone(cfg.Gates), m.gate)}
	guarded := rest.CopyConfig(cfg.REST)
	guarded.Transport = NewGuard(admission, cfg.Replica, newThrottle(seeing))
	guarded.UserAgent = userAgent(cfg.Replica)
	guarded.QPS, guarded.RateLimiter = -1, cfg.limiter()
	guarded.WarningHandler = rest.NoWarnings{}
	if m.Cluster, err = newCluster(guarded, cfg.Scheme); err != nil {
		return nil, fmt.Errorf("member: %s: %w", cfg.Name, err)
	}
	probing := rest.CopyConfig(guarded)
	probing.Transport, probing.RateLimiter = NewGuard(admission, cfg.Replica, seeing), nil
	if err := m.connect(guarded, probing); err != nil {
		return nil, fmt.Errorf("member: %s: %w", cfg.Name, err)
	}
	return m, nil
}

// newCluster is controller-runtime's, with a client that reads live.
func newCluster(cfg *rest.Config, s *runtime.Scheme) (cluster.Cluster, error) {
	return cluster.New(cfg, func(o *cluster.Options) {
		o.Scheme = s
		o.Logger = logr.Discard()
		o.NewClient = func(cfg *rest.Config, o client.Options) (client.Client, error) {
			o.Cache = nil
			return client.New(cfg, o)
		}
	})
}

// connect builds what uses the guarded configuration, and the probes, for which nothing waits.
func (m *Member) connect(guarded, probing *rest.Config) (err error) {
	if m.wire, err = newWire(guarded, m.GetHTTPClient(), m.cfg.RequestTimeout); err != nil {
		return err
	}
	m.wire.reach, m.wire.unanswered = m.reach, m.unanswered
	dyn, err := dynamic.NewForConfigAndClient(guarded, m.GetHTTPClient())
	if err != nil {
		return err
	}
	aside, err := rest.HTTPClientFor(probing)
	if err != nil {
		return err
	}
	probes, err := newWire(probing, aside, m.cfg.ProbeTimeout)
	if err != nil {
		return err
	}
	m.kinds = newKinds(m.wire)
	m.schemas = &schemas{wire: m.wire, shared: m.cfg.Schemas}
	m.watches = newWatches(m.store, func(gvk schema.GroupVersionKind, log logr.Logger) *kindWatch {
		return &kindWatch{
			gvk:      gvk,
			selector: v1alpha1.LabelHub + "=" + m.cfg.HubID,
			timeout:  m.cfg.RequestTimeout,
			kinds:    m.kinds,
			client:   dyn,
			store:    m.store,
			health:   m.cfg.Health,
			changed:  m.observed,
			log:      log,
			now:      make(chan struct{}, 1),
			broken:   map[rule]bool{},
		}
	})
	m.prober = &prober{
		wire:     probes,
		reach:    m.reach,
		interval: m.cfg.ProbeInterval,
		timeout:  m.cfg.ProbeTimeout,
		replaced: m.replaced,
		changed:  m.reachabilityChanged,
		soon:     make(chan struct{}, 1),
	}
	return nil
}

// Start runs the member until ctx is done, and returns when all its goroutines have ended.
// It is called once.
func (m *Member) Start(ctx context.Context) error {
	log := logf.FromContext(ctx).WithValues("member", m.cfg.Name)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { m.prober.run(ctx, log) })
	running.Go(func() { m.watches.run(ctx, log) })
	if err := m.Cluster.Start(ctx); err != nil {
		cancel()
		return fmt.Errorf("member: %s: %w", m.cfg.Name, err)
	}
	return nil
}

// Name is "<namespace>/<name>" of the MemberCluster.
func (m *Member) Name() multicluster.ClusterName { return m.cfg.Name }

// SetPaused stops writes to the member, or lets them pass. Until it is first called they
// are stopped.
func (m *Member) SetPaused(paused bool) {
	if m.gate.SetPaused(paused) {
		m.cfg.Notify()
	}
}

// Reachability is what is known of the connection.
func (m *Member) Reachability() Reachability { return m.reach.get() }

// Refresh probes at once, reads the member's identity again, and has watches that wait try
// again: its endpoint or credentials have changed.
func (m *Member) Refresh() {
	m.prober.askSoon()
	m.watches.retry()
}

// Observe sets which kinds are watched: the full set, one version of each kind. Kinds that
// are missing are no longer watched, and forgotten. It is cheap when nothing changes, and
// does no I/O.
func (m *Member) Observe(gvks ...schema.GroupVersionKind) { m.watches.want(gvks) }

// ObserveClosely sets of which kinds every new version of an object is told, and not only one
// that means something by Settings.Health and to what we own.
func (m *Member) ObserveClosely(kinds map[schema.GroupKind]bool) { m.store.setClose(kinds) }

// Seen is what is known of an object; false if the watch has not seen it, which means that
// it is not there only if Synced says so of its kind. A namespaced object's ID has a
// namespace.
func (m *Member) Seen(id object.ID) (Observation, bool) { return m.store.get(id) }

// Synced says that all our objects of a kind have been seen once.
func (m *Member) Synced(gk schema.GroupKind) bool { return m.store.synced(gk) }

// WatchProblem is a *WatchError that says why what was Seen of a kind may be old: it cannot
// be watched, or has not been caught up with since it could not. It is nil if what was seen
// is what there is, or if the watch has only just begun (see Synced).
func (m *Member) WatchProblem(gk schema.GroupKind) error { return m.store.problem(gk) }

// Namespaced says whether a kind's objects live in namespaces. A kind that the member does
// not serve is an error of reason KindNotServed.
func (m *Member) Namespaced(ctx context.Context, gvk schema.GroupVersionKind) (bool, error) {
	at, err := m.resolve(ctx, gvk)
	return at.namespaced, err
}

// Schema is the type of a kind in the member's OpenAPI; false if the member publishes
// none. Kinds that are built in are better taken from client-go.
func (m *Member) Schema(ctx context.Context, gvk schema.GroupVersionKind) (typed.ParseableType, bool, error) {
	if err := m.away(); err != nil {
		return typed.ParseableType{}, false, err
	}
	return m.schemas.get(ctx, gvk)
}

// answered hears of every answer from the member.
func (m *Member) answered() {
	if open := m.reach.seen(time.Now()); open {
		m.prober.askSoon()
	}
}

// unanswered hears of a request that was not answered in time. It may have been slow by
// itself: the probe knows.
func (m *Member) unanswered(since time.Time) {
	if m.reach.unanswered(since) {
		m.prober.askSoon()
	}
}

// replaced hears that the member is another cluster: nothing that was seen is true of it.
func (m *Member) replaced() {
	m.kinds.reset()
	m.store.reset()
	m.watches.restart()
}

// reachabilityChanged hears of it once per change. What was seen of a member that goes out
// of sight is in doubt; one that is back is watched at once, not when its watches have
// paused.
func (m *Member) reachabilityChanged() {
	if m.reach.get().Reachable {
		m.watches.retry()
	} else {
		m.watches.doubt()
	}
	m.cfg.Notify()
}

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// observed hears of changes in a kind's observations. New definitions end the waiting for
// kinds.
func (m *Member) observed(gk schema.GroupKind) {
	if gk == definitionKind {
		m.kinds.recheck()
		m.watches.retry()
	}
	m.cfg.Notify()
}
