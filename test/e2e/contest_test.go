package e2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// rival changes the greeting of the ConfigMap "web" whenever it is not its own, as a
// controller with another opinion would, until it is called off.
func (s *site) rival(greeting string) (callOff func()) {
	return s.opponent(func(ctx context.Context, web *corev1.ConfigMap) error {
		if web.Data["greeting"] == greeting {
			return nil
		}
		change := corev1ac.ConfigMap("web", s.arena.namespace).WithData(map[string]string{"greeting": greeting})
		return s.client.Apply(ctx, change, client.FieldOwner("rival"), client.ForceOwnership)
	})
}

// thief takes our label off the ConfigMap "web" whenever it is there, as another hub would.
func (s *site) thief() (callOff func()) {
	return s.opponent(func(ctx context.Context, web *corev1.ConfigMap) error {
		if web.Labels[v1alpha1.LabelHub] == "" {
			return nil
		}
		without := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+v1alpha1.LabelHub+`":null}}}`))
		return s.client.Patch(ctx, web, without, client.FieldOwner("thief"))
	})
}

// opponent looks at the ConfigMap "web" all the time and does what it likes to it.
func (s *site) opponent(act func(context.Context, *corev1.ConfigMap) error) (callOff func()) {
	ctx, cancel := context.WithCancel(s.arena.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var web corev1.ConfigMap
			err := s.client.Get(ctx, client.ObjectKey{Namespace: s.arena.namespace, Name: "web"}, &web)
			if err == nil {
				err = act(ctx, &web)
			}
			if err != nil && ctx.Err() == nil {
				s.arena.Errorf("opponent: %v", err)
			}
			return false, nil
		})
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// Two controllers that undo each other's work would do so for ever, and all day long.
func TestContestedFieldIsLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(besideWeb, "$GREETING", "hello", "$MORE", other)
	a.awaitConverged("web")

	since := eu.cluster.Audit().End()
	callOff := eu.rival("goodbye")
	defer callOff()
	a.awaitProblem("web", "eu", complaint{"Contested", []string{
		"ConfigMap " + a.namespace + "/web", "data.greeting", "rival", "syncline", "sync.ignore",
	}})
	a.now("it took a few rounds, and no more", func(g gomega.Gomega) {
		g.Expect(len(eu.writes(g, since, eu.ours))).To(gomega.BeNumerically("~", 4, 2))
	})
	eu.expectSilence()

	// The rest of the layer is kept as before.
	a.now("delete the other object", func(gomega.Gomega) { eu.delete("v1", "ConfigMap", "other") })
	a.eventually("it is back, and the field is the rival's", func(g gomega.Gomega) {
		eu.object(g, "v1", "ConfigMap", "other")
		g.Expect(eu.data(g, "web")).To(gomega.HaveKeyWithValue("greeting", "goodbye"))
	})

	callOff()
	eu.expectGreeting("hello")
	a.awaitConverged("web")
	a.now("no complaint is left", func(g gomega.Gomega) {
		g.Expect(a.binding(g, "web", "eu").Status.Problems).To(gomega.BeEmpty())
	})
}

// An object that loses our label is out of our sight, and looks as if it were deleted.
func TestContestedLabelIsLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	eu := a.site("eu")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")

	since := eu.cluster.Audit().End()
	callOff := eu.thief()
	defer callOff()
	a.awaitProblem("web", "eu", complaint{"Contested", []string{"ConfigMap " + a.namespace + "/web", v1alpha1.LabelHub, "by others"}})
	a.now("it took a few rounds, and no more", func(g gomega.Gomega) {
		g.Expect(len(eu.writes(g, since, eu.ours))).To(gomega.BeNumerically("~", 5, 2))
	})

	callOff()
	a.awaitConverged("web")
	a.now("the object is ours again", func(g gomega.Gomega) {
		g.Expect(eu.object(g, "v1", "ConfigMap", "web").GetLabels()).To(gomega.HaveKey(v1alpha1.LabelHub))
	})
}
