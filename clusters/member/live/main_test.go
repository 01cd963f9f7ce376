package live

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/clusters/registration"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/test/fleet"
)

const hubID = "hub-1"

// patience is how long a test waits for what should take a moment: the machine may be busy. What
// is promised has its own time.
const patience = 30 * time.Second

var memberKey = types.NamespacedName{Namespace: "fleet", Name: "m"}

var shared *fleet.Fleet

func TestMain(m *testing.M) {
	logf.SetLogger(logr.Discard())
	fleet.Main(m, fleet.Config{Members: fleet.Members(1), WithoutClusterAPI: true}, &shared)
}

// always admits every write.
type always struct{}

func (always) Begin(ctx context.Context) (context.Context, func(bool), error) {
	return ctx, func(bool) {}, nil
}

// nobody is a multicluster manager without controllers.
type nobody struct{}

func (nobody) Engage(context.Context, multicluster.ClusterName, cluster.Cluster) error { return nil }

// fixture is a member of the fleet as Syncline is connected to it.
type fixture struct {
	*testing.T
	cluster  *fleet.Cluster
	member   *member.Member
	provider *member.Provider
	notified chan struct{} // holds one when anything changed
}

// connect connects to the fleet's first member.
func connect(t *testing.T) *fixture {
	t.Helper()
	return connectTo(t, shared.Members()[0])
}

// connectTo registers a member by a kubeconfig Secret and waits until it is reachable.
func connectTo(t *testing.T, cluster *fleet.Cluster) *fixture {
	t.Helper()
	f := &fixture{T: t, cluster: cluster, notified: make(chan struct{}, 1)}
	gate := member.NewGate("Federation default")
	gate.SetPaused(false)
	provider, err := member.NewProvider(member.ProviderConfig{
		Settings:  member.Settings{HubID: hubID, Replica: "live"},
		Admission: func(types.NamespacedName) member.Admission { return always{} },
		Gate:      gate,
		Notify: func(types.NamespacedName) {
			select {
			case f.notified <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.provider = provider
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- provider.Run(ctx, nobody{}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	f.connectAs("first")
	f.member.SetPaused(false)
	f.within(patience, "reachable", func() bool { return f.member.Reachability().Reachable })
	return f
}

// connectAs connects, or replaces the credentials by those of another user.
func (f *fixture) connectAs(user string) {
	f.Helper()
	kubeconfig, err := f.cluster.KubeconfigFor(user, "system:masters")
	if err != nil {
		f.Fatal(err)
	}
	reg, err := registration.FromSecret(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: memberKey.Namespace, Name: memberKey.Name + registration.SecretSuffix,
			Labels: map[string]string{registration.LabelCluster: memberKey.Name},
		},
		Type: registration.SecretType,
		Data: map[string][]byte{registration.SecretKey: kubeconfig},
	}, registration.Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := f.provider.Connect(f.Context(), reg.Member, reg); err != nil {
		f.Fatal(err)
	}
	f.member, _ = f.provider.Member(reg.Member)
}

// within waits until a condition holds.
func (f *fixture) within(d time.Duration, what string, holds func() bool) {
	f.Helper()
	deadline := time.After(d)
	for !holds() {
		select {
		case <-f.notified:
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			f.Fatalf("not %s within %s", what, d)
		}
	}
}

// admin is somebody else on the member.
func (f *fixture) admin() client.Client {
	f.Helper()
	c, err := f.cluster.Client(nil)
	if err != nil {
		f.Fatal(err)
	}
	return c
}

func (f *fixture) apply(u *unstructured.Unstructured) member.Applied {
	f.Helper()
	applied, err := f.member.Apply(f.Context(), u)
	if err != nil {
		f.Fatal(err)
	}
	return applied
}

// watch observes kinds and waits until they are synced.
func (f *fixture) watch(gvks ...schema.GroupVersionKind) {
	f.Helper()
	f.member.Observe(gvks...)
	for _, gvk := range gvks {
		f.within(patience, "synced", func() bool { return f.member.Synced(gvk.GroupKind()) })
	}
}

func (f *fixture) seen(id object.ID) member.Observation {
	o, _ := f.member.Seen(id)
	return o
}

// manifest is an object of ours.
func manifest(apiVersion, kind, namespace, name string, content map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range content {
		u.Object[key] = value
	}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetLabels(map[string]string{v1alpha1.LabelHub: hubID})
	u.SetAnnotations(map[string]string{v1alpha1.AnnotationLayer: "base"})
	return u
}
