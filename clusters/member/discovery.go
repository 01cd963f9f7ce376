package member

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/syncline-dev/syncline/federation/object"
)

// aggregated asks for all groups in one answer. Version 2beta1, which Kubernetes before 1.30
// serves, has the same form.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

// discoveryError is discovery that leaves open what the member serves.
type discoveryError struct{ detail string }

func (e *discoveryError) Error() string { return e.detail }

// Kinds reads live which kinds the member serves. Where it does not know of one group, an
// aggregated API that does not answer, all is an error: that a kind is not served could not be
// told. The error is an *Error.
func (m *Member) Kinds(ctx context.Context) ([]schema.GroupVersionKind, error) {
	kinds, err := m.discover(ctx)
	if err != nil {
		return nil, failed("discover", object.ID{}, err)
	}
	return kinds, nil
}

func (m *Member) discover(ctx context.Context) ([]schema.GroupVersionKind, error) {
	if err := m.away(); err != nil {
		return nil, err
	}
	var kinds []schema.GroupVersionKind
	var stale []string
	for _, path := range []string{"/api", "/apis"} {
		raw, err := m.wire.do(ctx, m.wire.client.Get().AbsPath(path).SetHeader("Accept", aggregated))
		if err != nil {
			return nil, err
		}
		var list discoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("discovery at %s: %w", path, err)
		}
		if list.Kind != "APIGroupDiscoveryList" {
			return nil, &discoveryError{"the member does not aggregate its discovery, as Kubernetes does since 1.27"}
		}
		for i := range list.Items {
			served, unclear := kindsOfGroup(&list.Items[i])
			kinds, stale = append(kinds, served...), append(stale, unclear...)
		}
	}
	if len(stale) > 0 {
		slices.Sort(stale)
		return nil, &discoveryError{"the member does not know what these serve now: " + strings.Join(stale, ", ")}
	}
	return kinds, nil
}

// kindsOfGroup are the kinds of a group, and those of its versions that are not up to date.
func kindsOfGroup(group *discoveryv2.APIGroupDiscovery) (kinds []schema.GroupVersionKind, stale []string) {
	for _, version := range group.Versions {
		gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
		if version.Freshness == discoveryv2.DiscoveryFreshnessStale {
			stale = append(stale, gv.String())
		}
		for _, resource := range version.Resources {
			if kind := resource.ResponseKind; kind != nil && kind.Kind != "" {
				kinds = append(kinds, gv.WithKind(kind.Kind))
			}
		}
	}
	return kinds, stale
}
