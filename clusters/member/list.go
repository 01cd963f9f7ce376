package member

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// tooManyError is a list that was cut off.
type tooManyError struct{ limit int }

func (e *tooManyError) Error() string {
	return fmt.Sprintf("there are more than %d such objects: select fewer", e.limit)
}

// List reads the selected objects live, whoever they belong to, in the order of namespaces and
// names, and as they all were at the list's resourceVersion. More than the limit, or a kind
// that is not served, is an error; no objects are none. The error is an *Error.
func (m *Member) List(ctx context.Context, selected v1alpha1.ObservedObjects, limit int) (*unstructured.UnstructuredList, error) {
	id := object.ID{Group: selected.Group, Kind: selected.Kind, Namespace: selected.Namespace, Name: selected.Name}
	at, err := m.locateAll(ctx, selected)
	if err != nil {
		return nil, failed("list", id, err)
	}
	request := m.wire.client.Get().AbsPath(at.collection(selected.Namespace)...).Param("limit", strconv.Itoa(limit))
	if selected.LabelSelector != "" {
		request.Param("labelSelector", selected.LabelSelector)
	}
	if selected.Name != "" {
		request.Param("fieldSelector", fields.OneTermEqualSelector(metav1.ObjectNameField, selected.Name).String())
	}
	raw, err := m.wire.do(ctx, request)
	if err != nil {
		m.suspect(at, err)
		return nil, failed("list", id, err)
	}
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON(raw); err != nil {
		return nil, failed("list", id, fmt.Errorf("the member's answer: %w", err))
	}
	if list.GetContinue() != "" {
		return nil, failed("list", id, &tooManyError{limit})
	}
	return list, nil
}

// locateAll finds where the selected objects are served.
func (m *Member) locateAll(ctx context.Context, selected v1alpha1.ObservedObjects) (resource, error) {
	gk := schema.GroupKind{Group: selected.Group, Kind: selected.Kind}
	at, err := m.resolveAny(ctx, gk, selected.Version)
	switch {
	case err != nil || selected.Namespace == "":
		return at, err
	case !at.namespaced:
		return at, &scopeError{object.ID{Group: gk.Group, Kind: gk.Kind, Namespace: selected.Namespace}}
	}
	return at, checkSegment("namespace", selected.Namespace)
}

// resolveAny finds where a kind is served: in the version, or without one in the first that
// the member prefers and that has it.
func (m *Member) resolveAny(ctx context.Context, gk schema.GroupKind, version string) (resource, error) {
	if version != "" {
		return m.resolve(ctx, gk.WithVersion(version))
	}
	if err := m.away(); err != nil {
		return resource{}, err
	}
	versions, err := m.kinds.versions(ctx, gk.Group)
	if err != nil {
		return resource{}, err
	}
	for _, version := range versions {
		at, err := m.resolve(ctx, gk.WithVersion(version))
		if !meta.IsNoMatchError(err) {
			return at, err
		}
	}
	return resource{}, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
}

// collection is the URL path of the resource's objects: in a namespace, or in all.
func (r resource) collection(namespace string) []string {
	if namespace == "" {
		r.namespaced = false
	}
	path := r.path(namespace, "")
	return path[:len(path)-1]
}

// versions are those of a group, the one that the member prefers first; none of a group that
// it does not serve.
func (k *kinds) versions(ctx context.Context, group string) ([]string, error) {
	if group == "" {
		return []string{"v1"}, nil
	}
	raw, err := k.wire.get(ctx, "/apis/"+group)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var served metav1.APIGroup
	if err := json.Unmarshal(raw, &served); err != nil {
		return nil, fmt.Errorf("discovery of %s: %w", group, err)
	}
	versions := []string{served.PreferredVersion.Version}
	for _, v := range served.Versions {
		if v.Version != served.PreferredVersion.Version {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}
