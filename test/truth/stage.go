package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

const (
	// calmLimit bounds how long all layers take to converge when nobody disturbs them.
	calmLimit = 90 * time.Second
	// endLimit bounds how long a manager takes to end.
	endLimit = 30 * time.Second
	// lag is more than the harness's own watches are behind.
	lag = time.Second
)

// stage is a fleet behind a bad network, with layers, and all that is seen of it.
type stage struct {
	settings
	sketches []sketch
	progress io.Writer

	fleet    *fleet.Fleet
	product  *install.Installation
	hub      dynamic.Interface
	members  []*member
	network  *network
	journal  *journal
	gateways []*fleet.Gateway // the hub's first
	edits    int
}

// newStage installs Syncline, without managers, and registers the members behind the network.
func newStage(ctx context.Context, f *fleet.Fleet, s settings, progress io.Writer) (*stage, error) {
	st := &stage{settings: s, sketches: s.sketches(), progress: progress, fleet: f, network: &network{}}
	var names []string
	for _, c := range f.Members() {
		names = append(names, c.Name())
	}
	st.journal = newJournal(names, st.sketches)
	var err error
	if st.hub, err = dynamic.NewForConfig(f.Hub().RESTConfig()); err != nil {
		return nil, err
	}
	if st.product, err = install.Install(ctx, f, install.Options{}); err != nil {
		return nil, err
	}
	if err := st.makeNamespace(ctx); err != nil {
		return nil, err
	}
	_, err = st.open(f.Hub(), func(next http.Handler) http.Handler {
		return st.network.delayWatches(st.network.slowStatusWrites(st.journal, next))
	})
	for _, c := range f.Members() {
		if err == nil {
			err = st.join(ctx, c)
		}
	}
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

// open puts the network before a cluster.
func (s *stage) open(c *fleet.Cluster, around func(http.Handler) http.Handler) (*fleet.Gateway, error) {
	gateway, err := c.StartGateway(around)
	if err == nil {
		s.gateways = append(s.gateways, gateway)
	}
	return gateway, err
}

// join registers a member behind the network.
func (s *stage) join(ctx context.Context, c *fleet.Cluster) error {
	gateway, err := s.open(c, s.network.delayWatches)
	if err != nil {
		return err
	}
	m, err := newMember(c, s.journal)
	if err != nil {
		return err
	}
	s.members = append(s.members, m)
	kubeconfig, err := gateway.Kubeconfig()
	if err != nil {
		return err
	}
	return register(ctx, s.hub, c.Name(), kubeconfig)
}

// close ends what stands before the clusters.
func (s *stage) close() error {
	var errs []error
	for _, g := range s.gateways {
		errs = append(errs, g.Close())
	}
	return errors.Join(errs...)
}

// play judges a manager, and then one to which the checks mean nothing.
func (s *stage) play(ctx context.Context, unchecked string) (r report, err error) {
	first, err := s.start(ctx, "")
	if err != nil {
		return r, err
	}
	if err := s.furnish(ctx); err != nil {
		return r, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	watched, watching := errgroup.WithContext(watching)
	s.watch(watching, watched)
	err = s.playBoth(watching, first, unchecked, &r)
	stop()
	r.faults = s.product.Faults()
	return r, errors.Join(err, watched.Wait())
}

func (s *stage) playBoth(ctx context.Context, first *install.Replica, unchecked string, r *report) (err error) {
	if err := s.settle(ctx); err != nil {
		return err
	}
	if r.checked, err = s.playOne(ctx, first, s.lasts); err != nil {
		return err
	}
	second, err := s.start(ctx, unchecked)
	if err != nil {
		return err
	}
	r.unchecked, err = s.playOne(ctx, second, s.uncheckedLasts())
	return err
}

// start starts a manager behind the network.
func (s *stage) start(ctx context.Context, programs string) (*install.Replica, error) {
	return s.product.StartReplicaWith(ctx, install.ReplicaOptions{Hub: s.gateways[0], Programs: programs})
}

// furnish makes the base layer and waits until members have it.
func (s *stage) furnish(ctx context.Context) error {
	if err := s.apply(ctx, baseLayer()); err != nil {
		return err
	}
	return s.calm(ctx)
}

// settle makes the layers that are to be edited and waits until members have them.
func (s *stage) settle(ctx context.Context) error {
	for range s.sketches {
		if err := s.edit(ctx); err != nil {
			return err
		}
	}
	return s.calm(ctx)
}

// watch keeps the journal until ctx is done.
func (s *stage) watch(ctx context.Context, running *errgroup.Group) {
	running.Go(func() error {
		return fleet.Follow(ctx, s.hub.Resource(layers).Namespace(hubNamespace), s.journal.layer)
	})
	running.Go(func() error {
		return fleet.Follow(ctx, s.hub.Resource(bindings).Namespace(hubNamespace), s.journal.binding)
	})
	for _, m := range s.members {
		running.Go(func() error { return m.run(ctx) })
	}
}

// playOne loads a manager that runs, judges what it says, and ends it.
func (s *stage) playOne(ctx context.Context, manager *install.Replica, lasts time.Duration) (o outcome, err error) {
	s.say("%s is loaded for %s", manager.Identity, lasts)
	s.journal.begin()
	s.network.take()
	if err := s.load(ctx, lasts); err != nil {
		return o, err
	}
	select {
	case <-manager.Done():
		return o, fmt.Errorf("%s has ended under load\n%s", manager.Identity, manager.LogTail())
	default:
	}
	o.traffic = s.network.take()
	o.rate = float64(s.journal.changed()) / lasts.Seconds()
	if err := s.calm(ctx); err != nil {
		return o, err
	}
	pause(ctx, lag)
	o.verdicts, o.lies, err = s.journal.judge()
	return o, errors.Join(err, manager.Terminate(endLimit))
}

// calm waits until all layers have converged on all members. The error says which has not.
func (s *stage) calm(ctx context.Context) error {
	var missing string
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, calmLimit, true, func(ctx context.Context) (bool, error) {
		list, err := s.hub.Resource(layers).Namespace(hubNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		missing = ""
		for i := range list.Items {
			var layer v1alpha1.Layer
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &layer); err != nil {
				return false, err
			}
			if !s.hasConverged(&layer) {
				missing = fmt.Sprintf("layer %s: %s %s", layer.Name, layer.Status.Converged, layer.Status.Message)
			}
		}
		return missing == "", nil
	})
	if err != nil {
		return fmt.Errorf("not all layers have converged: %w: %s", err, missing)
	}
	return nil
}

func (s *stage) hasConverged(layer *v1alpha1.Layer) bool {
	said := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.ConditionConverged)
	return said != nil && said.Status == metav1.ConditionTrue && said.ObservedGeneration == layer.Generation &&
		layer.Status.ObservedGeneration == layer.Generation && int(layer.Status.Members.Total) == len(s.members)
}

// say tells the person who waits what is going on.
func (s *stage) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.progress, "truth: "+format+"\n", args...)
}
