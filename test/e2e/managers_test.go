package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/test/install"
)

// shutdownTimeout is how long a manager may take to end when it is asked to.
const shutdownTimeout = 15 * time.Second

// running are the managers that have not ended.
func running() []*install.Replica {
	var alive []*install.Replica
	for _, replica := range product.Replicas {
		select {
		case <-replica.Done():
		default:
			alive = append(alive, replica)
		}
	}
	return alive
}

// restoreReplicas brings the managers back to two when the test ends.
func restoreReplicas(t *testing.T) {
	t.Cleanup(func() {
		ctx, cancel := afterTest()
		defer cancel()
		for len(running()) < 2 {
			if _, err := product.StartReplica(ctx); err != nil {
				t.Error(err)
				return
			}
		}
	})
}

// startReplica starts one more manager and waits until it is healthy.
func startReplica(t *testing.T) *install.Replica {
	t.Helper()
	replica, err := product.StartReplica(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return replica
}

// stopAll asks all managers to end, and waits for it.
func stopAll(t *testing.T) {
	t.Helper()
	for _, replica := range running() {
		if err := replica.Terminate(shutdownTimeout); err != nil {
			t.Fatal(err)
		}
	}
}

// leading is the replica that the leader's Lease names; "" if it was released.
func leading(ctx context.Context, hub client.Client) (string, error) {
	var lease coordinationv1.Lease
	err := hub.Get(ctx, client.ObjectKey{Namespace: install.Namespace, Name: "syncline-leader"}, &lease)
	replica, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	return replica, err
}

// owner waits until a running manager owns a member.
func (a *arena) owner(member string) *install.Replica {
	a.Helper()
	var found *install.Replica
	a.eventually("a running manager owns "+member, func(g gomega.Gomega) {
		name := hub.OwnerOf(a.member(g, member))
		found = nil
		for _, replica := range running() {
			if replica.Identity == name {
				found = replica
			}
		}
		g.Expect(found).NotTo(gomega.BeNil(), "it is owned by %q", name)
	})
	return found
}
