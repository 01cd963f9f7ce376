package rollout

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// Wanted is the revision that the member should have, or "" while the layer has none.
//
// The answer speaks for status.observedGeneration of the layer. While that is behind the
// layer's generation, it is the right thing to keep on the member and no ground for a
// verdict on the newer generation.
func Wanted(l v1alpha1.Layered, _ *v1alpha1.MemberCluster) string {
	return l.LayerStatus().Revision
}

// Selects says whether the layer reaches the member: a Layer those of its own namespace, a
// ClusterLayer all, and of these the ones that its selector matches. Without a selector it
// reaches none. The error is a selector that cannot be read; it says nothing about members,
// and must not be taken for false.
func Selects(l v1alpha1.Layered, member *v1alpha1.MemberCluster) (bool, error) {
	if l.LayerKind() == v1alpha1.KindLayer && l.GetNamespace() != member.Namespace {
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(l.LayerSpec().ClusterSelector)
	if err != nil {
		return false, fmt.Errorf("spec.clusterSelector: %w", err)
	}
	return selector.Matches(labels.Set(member.Labels)), nil
}
