package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

const (
	// deadline bounds how long members may take to be Ready, and layers to converge.
	deadline = 3 * time.Minute
	// interval is how often the hub is asked. `kubectl wait` would do as well; the demo
	// wants to tell of each layer.
	interval = 100 * time.Millisecond
)

func hubScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// await asks until nothing is missing any more. If that takes too long, or no manager is
// left, the error says what is missing.
func (d *demo) await(ctx context.Context, what string, ask func(context.Context) (missing []string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		missing, err := ask(ctx)
		if err != nil {
			missing = []string{err.Error()}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := d.running(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s, not within %s:\n  %s\n%s", what, deadline, strings.Join(missing, "\n  "), d.logTails())
		case <-ticker.C:
		}
	}
}

// awaitMembers tells of each member that has become Ready.
func (d *demo) awaitMembers(ctx context.Context) error {
	told := map[string]bool{}
	return d.await(ctx, "members should be Ready", func(ctx context.Context) ([]string, error) {
		var missing []string
		for _, cluster := range d.fleet.Members() {
			member := &v1alpha1.MemberCluster{}
			key := client.ObjectKey{Namespace: namespace, Name: cluster.Name()}
			if err := d.hub.Get(ctx, key, member); client.IgnoreNotFound(err) != nil {
				return nil, err
			}
			ready := meta.FindStatusCondition(member.Status.Conditions, v1alpha1.ConditionReady)
			switch {
			case ready == nil:
				missing = append(missing, "member "+key.String()+" has not been looked at")
			case ready.Status != metav1.ConditionTrue:
				missing = append(missing, fmt.Sprintf("member %s: %s: %s", key, ready.Reason, ready.Message))
			case !told[key.Name]:
				told[key.Name] = true
				d.detail("%s is Ready: %s, region %s, served by %s", key.Name, member.Status.Version, member.Labels["region"], hub.OwnerOf(member))
			}
		}
		return missing, nil
	})
}

// awaitConvergence waits until every layer and the Federation say of their current
// generation that it has converged, and returns how many layers on members have.
func (d *demo) awaitConvergence(ctx context.Context, aloud bool) (converged string, err error) {
	told := map[string]bool{}
	err = d.await(ctx, "everything should have converged", func(ctx context.Context) ([]string, error) {
		var members v1alpha1.MemberClusterList
		if err := d.hub.List(ctx, &members); err != nil {
			return nil, err
		}
		layers, err := hub.LayersWithin(ctx, d.hub, metav1.NamespaceAll)
		if err != nil {
			return nil, err
		}
		var missing []string
		for _, l := range layers {
			selected, err := selectedBy(l, members.Items)
			if err != nil {
				return nil, err
			}
			if why := layerMissing(l, selected); why != "" {
				missing = append(missing, hub.Describe(l)+": "+why)
			} else if aloud && !told[hub.Describe(l)] {
				told[hub.Describe(l)] = true
				d.tellConverged(l, selected)
			}
		}
		var federation v1alpha1.Federation
		if err := d.hub.Get(ctx, client.ObjectKey{Name: v1alpha1.FederationName}, &federation); err != nil {
			return nil, err
		}
		converged = federation.Status.Converged
		if why := federationMissing(&federation, len(layers), len(members.Items)); why != "" {
			missing = append(missing, "Federation "+federation.Name+": "+why)
		}
		return missing, nil
	})
	return converged, err
}

func (d *demo) tellConverged(l v1alpha1.Layered, selected int) {
	if selected == 0 {
		d.detail("%s selects no member", hub.Describe(l))
		return
	}
	d.detail("%s has converged on %s", hub.Describe(l), number(selected, "member", "members"))
}

func selectedBy(l v1alpha1.Layered, members []v1alpha1.MemberCluster) (int, error) {
	count := 0
	for i := range members {
		selected, err := rollout.Selects(l, &members[i])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", hub.Describe(l), err)
		}
		if selected {
			count++
		}
	}
	return count, nil
}

// layerMissing says what keeps a layer that selects so many members from being converged.
func layerMissing(l v1alpha1.Layered, selected int) string {
	status := l.LayerStatus()
	if why := conditionMissing(status.Conditions, l.GetGeneration()); why != "" {
		return why
	}
	if int(status.Members.Total) != selected {
		return fmt.Sprintf("speaks of %d members and selects %d", status.Members.Total, selected)
	}
	return ""
}

func federationMissing(f *v1alpha1.Federation, layers, members int) string {
	if why := conditionMissing(f.Status.Conditions, f.Generation); why != "" {
		return why
	}
	if int(f.Status.Layers) != layers || int(f.Status.Members) != members {
		return fmt.Sprintf("speaks of %d layers and %d members; there are %d and %d", f.Status.Layers, f.Status.Members, layers, members)
	}
	return ""
}

// conditionMissing says why a Converged condition is not True for the generation.
func conditionMissing(conditions []metav1.Condition, generation int64) string {
	c := meta.FindStatusCondition(conditions, v1alpha1.ConditionConverged)
	switch {
	case c == nil:
		return "has no condition Converged"
	case c.ObservedGeneration != generation:
		return fmt.Sprintf("its condition Converged speaks of generation %d, and it is at %d", c.ObservedGeneration, generation)
	case c.Status != metav1.ConditionTrue:
		return c.Reason + ": " + c.Message
	}
	return ""
}
