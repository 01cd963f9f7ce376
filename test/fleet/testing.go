package fleet

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cleanupTimeout bounds what a test's clean-up asks of one cluster.
const cleanupTimeout = 30 * time.Second

// Main runs a package's tests with one fleet that they share, and exits. The
// fleet is in *shared while they run. If they fail, the last lines of every
// cluster whose processes ended by themselves are written to stderr.
func Main(m *testing.M, cfg Config, shared **Fleet) {
	os.Exit(run(m, cfg, shared))
}

func run(m *testing.M, cfg Config, shared **Fleet) (code int) {
	if cfg.Progress == nil {
		cfg.Progress = os.Stderr
	}
	f, err := Start(context.Background(), cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := f.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	*shared = f
	code = m.Run()
	if code != 0 {
		f.reportEnded()
	}
	return code
}

func (f *Fleet) reportEnded() {
	for _, c := range append(f.Members(), f.hub) {
		if err := checkRunning(c.name, c.LogPath(), 0, c.processes()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// Namespace makes a namespace for one test on the cluster and returns its name.
// When the test ends it is deleted, without waiting for the five to ten seconds
// that takes.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.Create(t, ns)
	return ns.Name
}

// Create makes objects on the cluster and deletes them when the test ends, last
// one first. A cluster that is then down or frozen keeps them.
func (c *Cluster) Create(t testing.TB, objects ...client.Object) {
	t.Helper()
	cl, err := c.Client(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := cl.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T on %s: %v", object, c.name, err)
		}
		t.Cleanup(func() { c.discard(t, object) })
	}
}

func (c *Cluster) discard(t testing.TB, object client.Object) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	cl, err := c.Client(nil) // Recreate may have changed the certificates
	if err == nil {
		err = cl.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	if client.IgnoreNotFound(err) != nil {
		t.Logf("clean up %T %s on %s: %v", object, client.ObjectKeyFromObject(object), c.name, err)
	}
}
