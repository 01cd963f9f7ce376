package e2e

import (
	"fmt"
	"slices"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// complaint is what must be said of a thing that is wrong: by which word, about which
// object, where, and what to do.
type complaint struct {
	reason string
	// says are parts of the message: the object, the path, the way out.
	says []string
}

// awaitUnrendered waits until a layer says that its content cannot be used: in its own
// condition, and in those that people wait for and look at.
func (a *arena) awaitUnrendered(layer string, want complaint) {
	a.Helper()
	a.eventually(fmt.Sprintf("layer %s complains of %s", layer, want.reason), func(g gomega.Gomega) {
		l := a.layer(g, layer)
		status := l.LayerStatus()
		for _, expected := range []struct {
			kind   string
			status metav1.ConditionStatus
		}{
			{v1alpha1.ConditionRendered, metav1.ConditionFalse},
			{v1alpha1.ConditionConverged, metav1.ConditionFalse},
			{v1alpha1.ConditionStalled, metav1.ConditionTrue},
		} {
			c := condition(status.Conditions, expected.kind)
			g.Expect(c.Status).To(gomega.Equal(expected.status), "%s: %s", expected.kind, c.Message)
			g.Expect(c.ObservedGeneration).To(gomega.Equal(l.GetGeneration()), expected.kind)
			want.check(g, c.Reason, c.Message)
		}
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		want.check(g, want.reason, status.Message)
	})
}

// awaitProblem waits until a layer's binding to a member lists a problem, and until the
// binding's and the layer's conditions and messages say so too. The layer that is to blame
// is named besides.
func (a *arena) awaitProblem(layer, member string, want complaint) {
	a.Helper()
	l := a.emptyLayer(layer)
	blamed := "layer " + l.GetName()
	if l.GetNamespace() != "" {
		blamed = "layer " + l.GetNamespace() + "/" + l.GetName()
	}
	onBinding := complaint{want.reason, append(slices.Clone(want.says), blamed)}
	a.eventually(fmt.Sprintf("layer %s on %s complains of %s", layer, member, want.reason), func(g gomega.Gomega) {
		binding := a.binding(g, layer, member)
		var found *v1alpha1.Problem
		for i, p := range binding.Status.Problems {
			if p.Reason == want.reason {
				found = &binding.Status.Problems[i]
			}
		}
		g.Expect(found).NotTo(gomega.BeNil(), "problems: %v", binding.Status.Problems)
		onBinding.check(g, found.Reason, fmt.Sprintf("%s: %s: %s", found.Object, found.Path, found.Message))
		g.Expect(binding.Status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		c := condition(binding.Status.Conditions, v1alpha1.ConditionConverged)
		g.Expect(c.Status).To(gomega.Equal(metav1.ConditionFalse))
		onBinding.check(g, c.Reason, c.Message)
		g.Expect(condition(binding.Status.Conditions, v1alpha1.ConditionStalled).Status).To(gomega.Equal(metav1.ConditionTrue))

		status := a.layer(g, layer).LayerStatus()
		g.Expect(status.State).To(gomega.Equal(v1alpha1.StateDegraded))
		g.Expect(condition(status.Conditions, v1alpha1.ConditionStalled).Status).To(gomega.Equal(metav1.ConditionTrue))
		want.check(g, want.reason, condition(status.Conditions, v1alpha1.ConditionConverged).Message)
	})
}

func (c complaint) check(g gomega.Gomega, reason, message string) {
	g.ExpectWithOffset(1, reason).To(gomega.Equal(c.reason), message)
	for _, part := range c.says {
		g.ExpectWithOffset(1, message).To(gomega.ContainSubstring(part))
	}
}

// uids are those of an object on all members of the test, in their order.
func (a *arena) uids(apiVersion, kind, name string) []types.UID {
	a.Helper()
	var uids []types.UID
	for _, s := range a.sites {
		uids = append(uids, s.uid(apiVersion, kind, name))
	}
	return uids
}

// expectKept checks that an object is still the one that it was on all members.
func (a *arena) expectKept(kept []types.UID, apiVersion, kind, name string) {
	a.Helper()
	if now := a.uids(apiVersion, kind, name); !slices.Equal(now, kept) {
		a.Errorf("%s %s was deleted and made anew: uids %v, before %v", kind, name, now, kept)
	}
}
