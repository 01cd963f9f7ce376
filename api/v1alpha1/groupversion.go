package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "syncline.dev", Version: "v1alpha1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&MemberCluster{}, &MemberClusterList{},
		&Layer{}, &LayerList{},
		&ClusterLayer{}, &ClusterLayerList{},
		&LayerBinding{}, &LayerBindingList{},
		&StateAssertion{}, &StateAssertionList{},
		&Federation{}, &FederationList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
