package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// patience is how long a test waits for what should take a second or two: the machine
	// may be busy with other things.
	patience = 45 * time.Second
	// interval is how often it looks.
	interval = 200 * time.Millisecond
	// labelArena marks cluster-scoped objects of a test, on the hub and on members.
	labelArena = "e2e"
	// hold is what tests put into finalizers to keep an object.
	hold = "e2e.syncline.dev/hold"
)

// arena is what a test has to itself: a namespace on a hub with members registered in it,
// and a namespace of the same name on each of these.
type arena struct {
	*testing.T
	namespace string
	fleet     *fleet.Fleet
	hub       client.Client
	sites     []*site
	// patience and interval are the constants of these names, unless the test is special.
	patience, interval time.Duration
}

var arenas atomic.Int64

// newArena registers members of the shared fleet, "eu" and "us" if none are named, and
// waits until they are Ready.
func newArena(t *testing.T, members ...string) *arena {
	t.Helper()
	if len(members) == 0 {
		members = []string{"eu", "us"}
	}
	a := emptyArena(t, shared, nameFor(t))
	a.register(members...)
	return a
}

// nameFor is the test's name as a namespace, unique in this process.
func nameFor(t *testing.T) string {
	const longest = 40
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimPrefix(t.Name(), "Test")))
	return fmt.Sprintf("%s-%d", name[:min(len(name), longest)], arenas.Add(1))
}

// emptyArena makes the namespace on a hub, and no member.
func emptyArena(t *testing.T, f *fleet.Fleet, namespace string) *arena {
	t.Helper()
	a := bareArena(t, f, namespace)
	// First, so that it comes last: whatever a test sets up later is undone before.
	t.Cleanup(a.cleanUp)
	a.create(a.hub, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	return a
}

// bareArena makes nothing on the hub.
func bareArena(t *testing.T, f *fleet.Fleet, namespace string) *arena {
	t.Helper()
	return &arena{
		T: t, namespace: namespace, fleet: f, hub: clientOf(t, f.Hub()),
		patience: patience, interval: interval,
	}
}

// register registers members of the fleet as Cluster API would, and waits until they are
// Ready.
func (a *arena) register(members ...string) {
	a.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(members))
	for i, name := range members {
		cluster := a.fleet.Member(name)
		a.addSite(name, cluster)
		wg.Go(func() { errs[i] = a.fleet.RegisterIn(a.Context(), cluster, a.namespace) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			a.Fatal(err)
		}
	}
	a.awaitReady(members...)
}

// registerSecret registers a cluster by nothing but a kubeconfig Secret, under a name of
// its own.
func (a *arena) registerSecret(name string, cluster *fleet.Cluster, labels map[string]string) *site {
	a.Helper()
	kubeconfig, err := cluster.Kubeconfig()
	if err != nil {
		a.Fatal(err)
	}
	s := a.addSite(name, cluster)
	secret := kubeconfigSecret(a.namespace, name, map[string][]byte{"value": kubeconfig})
	for key, value := range labels {
		secret.Labels[key] = value
	}
	a.create(a.hub, secret)
	return s
}

// kubeconfigSecret is a Secret as Cluster API's, with any data.
func kubeconfigSecret(namespace, member string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: member + "-kubeconfig",
			Labels: map[string]string{clusterv1.ClusterNameLabel: member},
		},
		Type: clusterv1.ClusterSecretType,
		Data: data,
	}
}

func (a *arena) addSite(name string, cluster *fleet.Cluster) *site {
	a.Helper()
	s := &site{arena: a, name: name, cluster: cluster, client: clientOf(a.T, cluster)}
	s.makeNamespace()
	a.sites = append(a.sites, s)
	return s
}

// site finds a member by its name on the hub.
func (a *arena) site(name string) *site {
	a.Helper()
	for _, s := range a.sites {
		if s.name == name {
			return s
		}
	}
	a.Fatalf("the test has no member %s", name)
	return nil
}

func (a *arena) create(c client.Client, object client.Object) {
	a.Helper()
	if err := c.Create(a.Context(), object); err != nil {
		a.Fatalf("create %T: %v", object, err)
	}
}

// eventually waits until a check passes. If it never does, the test ends with what the hub
// and the managers have to say.
func (a *arena) eventually(what string, check func(g gomega.Gomega)) {
	a.Helper()
	a.within(a.patience, what, check)
}

// within is eventually, within a time.
func (a *arena) within(d time.Duration, what string, check func(g gomega.Gomega)) {
	a.Helper()
	gomega.NewWithT(a).Eventually(check).WithTimeout(d).WithPolling(a.interval).
		Should(gomega.Succeed(), a.explaining(what))
}

// throughout makes sure that a check passes all the time.
func (a *arena) throughout(d time.Duration, what string, check func(g gomega.Gomega)) {
	a.Helper()
	gomega.NewWithT(a).Consistently(check).WithTimeout(d).WithPolling(a.interval).
		Should(gomega.Succeed(), a.explaining(what))
}

// now is a check that must pass at once.
func (a *arena) now(what string, check func(g gomega.Gomega)) {
	a.Helper()
	a.within(time.Nanosecond, what, check)
}

func (a *arena) explaining(what string) func() string {
	return func() string { return "want: " + what + "\n" + a.story() }
}

// cleanUp deletes the test's layers and makes sure that they are undone, unregisters its
// members, and leaves the deletion of namespaces to their clusters.
func (a *arena) cleanUp() {
	ctx, cancel := afterTest()
	defer cancel()
	g := gomega.NewGomega(func(message string, _ ...int) { a.Error(message) })
	ours := client.MatchingLabels{labelArena: a.namespace}
	a.discard(ctx, a.hub, &v1alpha1.Layer{}, client.InNamespace(a.namespace))
	a.discard(ctx, a.hub, &v1alpha1.ClusterLayer{}, ours)
	g.Eventually(func(g gomega.Gomega) {
		g.Expect(namesOf(ctx, a.hub, &v1alpha1.LayerList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty(), "Layers")
		g.Expect(namesOf(ctx, a.hub, &v1alpha1.ClusterLayerList{}, ours)).To(gomega.BeEmpty(), "ClusterLayers")
		g.Expect(namesOf(ctx, a.hub, &v1alpha1.LayerBindingList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty(), "LayerBindings")
	}).WithTimeout(a.patience).WithPolling(a.interval).Should(gomega.Succeed(), a.explaining("deleted layers are undone and released"))

	a.discard(ctx, a.hub, &clusterv1.Cluster{}, client.InNamespace(a.namespace))
	a.discard(ctx, a.hub, &corev1.Secret{}, client.InNamespace(a.namespace))
	g.Eventually(func(g gomega.Gomega) {
		g.Expect(namesOf(ctx, a.hub, &v1alpha1.MemberClusterList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty())
	}).WithTimeout(a.patience).WithPolling(a.interval).Should(gomega.Succeed(), a.explaining("members are unregistered"))

	for _, s := range a.sites {
		s.cleanUp(ctx)
	}
	if err := client.IgnoreNotFound(a.hub.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.namespace}})); err != nil {
		a.Logf("clean up on the hub: %v", err)
	}
}

func (a *arena) discard(ctx context.Context, c client.Client, kind client.Object, which ...client.DeleteAllOfOption) {
	if err := c.DeleteAllOf(ctx, kind, which...); client.IgnoreNotFound(err) != nil {
		a.Logf("clean up: delete all %T: %v", kind, err)
	}
}

// afterTest is a context for clean-up: that of the test has ended.
func afterTest() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 3*time.Minute)
}

var knownKinds = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, v1alpha1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}()

// clients holds one client for each cluster, by its CA: a cluster made anew has another.
var clients sync.Map

func clientOf(t testing.TB, cluster *fleet.Cluster) client.Client {
	t.Helper()
	ca := string(cluster.RESTConfig().CAData)
	if known, ok := clients.Load(ca); ok {
		return known.(client.Client)
	}
	made, err := cluster.Client(knownKinds)
	if err != nil {
		t.Fatal(err)
	}
	known, _ := clients.LoadOrStore(ca, made)
	return known.(client.Client)
}
