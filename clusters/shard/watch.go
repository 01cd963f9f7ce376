package shard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watch tells the machine of all Leases for as long as ctx lasts. client-go's reflector would
// do, but for two things: it waits up to half a minute before it lists again, and it trusts a
// connection that has gone silent.
func (r *Replica) watch(ctx context.Context, log logr.Logger) {
	for ctx.Err() == nil {
		err := r.follow(ctx, log)
		log.V(1).Info("Watch of Leases ended", "reason", err.Error())
		pause := r.cfg.RetryPeriod/4 + rand.N(r.cfg.RetryPeriod/4)
		select {
		case <-ctx.Done():
		case <-r.cfg.Clock.After(pause):
		}
	}
}

var errSilent = errors.New("nothing was heard for too long")

// follow lists, and watches from there until something fails. This replica's own renewals
// make sure that there is always something to hear.
func (r *Replica) follow(ctx context.Context, log logr.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	overdue := time.AfterFunc(r.cfg.callTimeout(), func() { cancel(errSilent) })
	defer overdue.Stop()
	r.inbox.put(func(m *machine, _ time.Time) { m.listing() })
	list, err := r.cfg.Reader.List(ctx, metav1.ListOptions{LabelSelector: LeaseLabel})
	r.setFailure(log, "all", err)
	if err != nil {
		return fmt.Errorf("list Leases: %w", err)
	}
	r.inbox.put(func(m *machine, now time.Time) { m.listed(now, list) })
	overdue.Reset(r.cfg.callTimeout())
	events, err := r.cfg.Reader.Watch(ctx, metav1.ListOptions{
		LabelSelector: LeaseLabel, ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true,
	})
	if err != nil {
		return fmt.Errorf("watch Leases: %w", err)
	}
	defer events.Stop()
	for {
		overdue.Reset(r.cfg.RenewDeadline)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case event, open := <-events.ResultChan():
			if !open {
				return errors.New("the server ended the watch")
			}
			if err := r.hear(event); err != nil {
				return err
			}
		}
	}
}

// hear passes on what a watch says.
func (r *Replica) hear(event watch.Event) error {
	lease, ok := event.Object.(*coordinationv1.Lease)
	switch event.Type {
	case watch.Added, watch.Modified:
		if ok {
			r.inbox.put(func(m *machine, now time.Time) { m.saw(now, lease) })
		}
	case watch.Deleted:
		if ok {
			r.inbox.put(func(m *machine, now time.Time) { m.missed(now, lease.Name, lease.ResourceVersion) })
		}
	case watch.Error:
		return apierrors.FromObject(event.Object)
	}
	return nil
}
