package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/install"
)

var (
	bindings = v1alpha1.GroupVersion.WithResource("layerbindings")
	reports  = schema.GroupVersionResource{Group: "bench.syncline.dev", Version: "v1", Resource: "reports"}
)

// stalledCondition is the type of the condition by which Deployments change.
const stalledCondition = "Stalled"

// view: a change of a Deployment's status on a member until the hub's binding shows it,
// against a loop that watches the Deployment and writes the status of one object.
func (b *bench) view(ctx context.Context) error {
	say("changes of status")
	v, err := b.newViews(ctx)
	if err != nil {
		return err
	}
	defer v.watches.stop()
	members := b.fleet.Members()
	var times series
	for i := range b.changes {
		// One change and its opposite: every member is left as it was.
		member := members[i/2%len(members)].Name()
		stalled := metav1.ConditionTrue
		if i%2 == 1 {
			stalled = metav1.ConditionFalse
		}
		err := times.both(i/2,
			func() (time.Duration, error) { return v.binding(ctx, member, stalled) },
			func() (time.Duration, error) { return v.reportOf(ctx, member, stalled) })
		if err != nil {
			return err
		}
	}
	if err := v.failure(); err != nil {
		return err
	}
	times.ratios("view", true)
	return b.converged(ctx, measured)
}

// views are both views of the members: bindings, and the bare loop's reports.
type views struct {
	*bench
	watches  *watches
	hub      dynamic.Interface
	bindings map[string]place // by member
	failed   chan error       // of the bare loop
}

// newViews makes a report for each member and starts the bare loop.
func (b *bench) newViews(ctx context.Context) (*views, error) {
	hub, err := dynamic.NewForConfig(b.fleet.Hub().RESTConfig())
	if err != nil {
		return nil, err
	}
	v := &views{bench: b, hub: hub, failed: make(chan error, 1)}
	if err := b.makeReports(ctx, hub); err != nil {
		return nil, err
	}
	if v.bindings, err = b.bindingsOf(ctx, measured); err != nil {
		return nil, err
	}
	feeds := []feed{
		{b.fleet.Hub(), bindings, hubNamespace, ready},
		{b.fleet.Hub(), reports, hubNamespace, reported},
	}
	for _, m := range b.fleet.Members() {
		feeds = append(feeds, feed{m, deployments, bareNamespace, isStalled})
	}
	if v.watches, err = watchAll(ctx, feeds...); err != nil {
		return nil, err
	}
	v.watches.onChange(func(at place, stamp string) {
		if at.resource == deployments.Resource && stamp != "" {
			go v.report(ctx, at.cluster, stamp)
		}
	})
	return v, nil
}

// makeReports makes a report for each member, where there is none.
func (b *bench) makeReports(ctx context.Context, hub dynamic.Interface) error {
	if err := b.fleet.InstallCRDs(ctx, install.Path("test/bench/testdata")); err != nil {
		return err
	}
	for _, m := range b.fleet.Members() {
		report := &unstructured.Unstructured{}
		report.SetGroupVersionKind(reports.GroupVersion().WithKind("Report"))
		report.SetName(m.Name())
		_, err := hub.Resource(reports).Namespace(hubNamespace).Create(ctx, report, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make report: %w", err)
		}
	}
	return nil
}

// bindingsOf are the places of a layer's bindings, by member.
func (b *bench) bindingsOf(ctx context.Context, layer string) (map[string]place, error) {
	var list v1alpha1.LayerBindingList
	if err := b.hub.List(ctx, &list, client.InNamespace(hubNamespace)); err != nil {
		return nil, err
	}
	places := map[string]place{}
	for _, binding := range list.Items {
		if binding.Spec.Layer.Name == layer {
			places[binding.Spec.Member] = place{b.fleet.Hub().Name(), bindings.Resource, binding.Namespace, binding.Name}
		}
	}
	return places, nil
}

// report is the bare loop's one write.
func (v *views) report(ctx context.Context, member, stalled string) {
	raw := fmt.Appendf(nil, `{"status":{"stalled":%q}}`, stalled)
	_, err := v.hub.Resource(reports).Namespace(hubNamespace).
		Patch(ctx, member, types.MergePatchType, raw, metav1.PatchOptions{}, "status")
	if err != nil {
		select {
		case v.failed <- err:
		default:
		}
	}
}

// failure is the first failure of the bare loop.
func (v *views) failure() error {
	select {
	case err := <-v.failed:
		return fmt.Errorf("bare loop: %w", err)
	default:
		return nil
	}
}

func (v *views) binding(ctx context.Context, member string, stalled metav1.ConditionStatus) (time.Duration, error) {
	all := fmt.Sprintf("%d/%[1]d", measuredObjects)
	shown := func(ready string) bool { return (ready != all) == (stalled == metav1.ConditionTrue) }
	return v.watches.timed(ctx, []place{v.bindings[member]}, shown, func(ctx context.Context) error {
		return v.stall(ctx, deployment(member, oursNamespace, "d0"), stalled, "")
	})
}

func (v *views) reportOf(ctx context.Context, member string, stalled metav1.ConditionStatus) (time.Duration, error) {
	report := place{v.fleet.Hub().Name(), reports.Resource, hubNamespace, member}
	shown := func(status string) bool { return status == string(stalled) }
	return v.watches.timed(ctx, []place{report}, shown, func(ctx context.Context) error {
		return v.stall(ctx, deployment(member, bareNamespace, "d0"), stalled, "")
	})
}

// stall writes a condition into a Deployment's status that its own controller leaves alone,
// and that kstatus heeds in every kind.
func (b *bench) stall(ctx context.Context, where place, stalled metav1.ConditionStatus, message string) error {
	condition := object{"type": stalledCondition, "status": stalled, "message": message}
	raw, err := json.Marshal(object{"status": object{"conditions": []object{condition}}})
	if err != nil {
		return err
	}
	return b.bare[where.cluster].Patch(types.StrategicMergePatchType).
		AbsPath("/apis/apps/v1/namespaces", where.namespace, where.resource, where.name, "status").
		Body(raw).Do(ctx).Error()
}

// ready is the part of a binding that shows how many objects are well.
func ready(binding *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(binding.Object, "status", "ready")
	return text
}

func reported(report *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(report.Object, "status", "stalled")
	return text
}

func isStalled(deployment *unstructured.Unstructured) string {
	status, _ := stalledIn(deployment)["status"].(string)
	return status
}

// stalledIn is the condition that stall has written into a Deployment's status; nil if none.
func stalledIn(deployment *unstructured.Unstructured) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(deployment.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == stalledCondition {
			return c
		}
	}
	return nil
}

// deployment is the place of a Deployment on a member.
func deployment(member, namespace, name string) place {
	return place{member, deployments.Resource, namespace, name}
}
