package fleet

import (
	"bytes"
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestRegisteredKubeconfigReachesTheMember(t *testing.T) {
	member, hub := shared.Member("east"), clientOf(t, shared.Hub())
	key := client.ObjectKey{Namespace: shared.Hub().Namespace(t), Name: member.Name()}
	if err := shared.RegisterIn(t.Context(), member, key.Namespace); err != nil {
		t.Fatal(err)
	}

	var cluster clusterv1.Cluster
	if err := hub.Get(t.Context(), key, &cluster); err != nil {
		t.Fatal(err)
	}
	if cluster.Labels["region"] != "east" || cluster.Status.Phase != string(clusterv1.ClusterPhaseProvisioned) {
		t.Errorf("Cluster has labels %v and phase %q", cluster.Labels, cluster.Status.Phase)
	}
	first, err := kubeconfig.FromSecret(t.Context(), hub, key)
	if err != nil {
		t.Fatal(err)
	}
	checkReaches(t, member, first)

	if err := shared.RegisterIn(t.Context(), member, key.Namespace); err != nil {
		t.Fatalf("again: %v", err)
	}
	second, err := kubeconfig.FromSecret(t.Context(), hub, key)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, second) {
		t.Error("registering again rotated nothing")
	}
	checkReaches(t, member, second)

	if err := shared.UnregisterFrom(t.Context(), member, key.Namespace); err != nil {
		t.Fatal(err)
	}
	if _, err := kubeconfig.FromSecret(t.Context(), hub, key); !apierrors.IsNotFound(err) {
		t.Errorf("after Unregister: got %v, want NotFound", err)
	}
	eventually(t, "the Cluster to go", func(ctx context.Context) (bool, error) {
		err := hub.Get(ctx, key, &cluster)
		return apierrors.IsNotFound(err), err
	})
}

// checkReaches uses the kubeconfig to write, and finds the write in the member's
// audit log.
func checkReaches(t *testing.T, member *Cluster, kubeconfig []byte) {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.UserAgent = "fleet-test/" + t.Name()
	cl, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	since := member.Audit().End()
	object := configMap(corev1.NamespaceDefault)
	object.Name = "written-by-kubeconfig"
	if err := cl.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := cl.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two audit events", func(context.Context) (bool, error) {
		events, _, err := member.Audit().Events(since, Writes, ByUserAgent(config.UserAgent), ByUser(UserClusterAPI))
		if err != nil || len(events) != 2 {
			return false, err
		}
		if events[0].Verb != "create" || events[0].ObjectRef.Name != object.Name || events[1].Verb != "delete" {
			t.Errorf("got %+v", events)
		}
		return true, nil
	})
}
