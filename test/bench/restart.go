package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// restart: the manager ends and another starts, until that one has said of every member
// that it is as it should be; and what it sends to members until then.
func (b *bench) restart(ctx context.Context) error {
	layers := 2 * b.layers
	say("restart with %d objects on each member", layers*crowdSize)
	if err := b.crowd(ctx, layers); err != nil {
		return err
	}
	begin, began := b.auditEnds(), time.Now()
	old := b.product.Replicas[len(b.product.Replicas)-1]
	if err := old.Terminate(30 * time.Second); err != nil {
		return err
	}
	ended := time.Now()
	if err := b.standAgain(ctx, layers); err != nil {
		return err
	}
	figure("restart_s", time.Since(began).Seconds(), "s")
	figure("restart_start_s", time.Since(ended).Seconds(), "s")
	applies, err := b.memberWrites(begin)
	if err != nil {
		return err
	}
	figure("restart_applies", float64(applies), "writes")
	return nil
}

// standAgain starts a manager and waits until all verdicts are its own. A replica names
// itself as a member's owner with the first verdict on it, and only once it has seen all.
func (b *bench) standAgain(ctx context.Context, layers int) error {
	replica, err := b.product.StartReplica(ctx)
	if err != nil {
		return err
	}
	err = until(ctx, func(ctx context.Context) (bool, error) {
		var members v1alpha1.MemberClusterList
		if err := b.hub.List(ctx, &members, client.InNamespace(hubNamespace)); err != nil {
			return false, err
		}
		for _, m := range members.Items {
			if hub.OwnerOf(&m) != replica.Identity {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("%s does not own all members: %w", replica.Identity, err)
	}
	if err := b.converged(ctx, measured); err != nil {
		return err
	}
	return b.crowdConverged(ctx, layers)
}
