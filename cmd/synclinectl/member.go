package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// findMember finds a member by NAMESPACE/NAME or by NAME: in the namespace, if one was
// chosen, and else wherever there is only one of that name.
func findMember(ctx context.Context, c client.Reader, name, namespace string) (*v1alpha1.MemberCluster, error) {
	if ns, rest, qualified := strings.Cut(name, "/"); qualified {
		namespace, name = ns, rest
		if namespace == "" || name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("member %q: write NAME or NAMESPACE/NAME", ns+"/"+rest)
		}
	}
	if namespace != "" {
		member := &v1alpha1.MemberCluster{}
		err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, member)
		if err == nil {
			return member, nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read member %s/%s: %w", namespace, name, err)
		}
	}
	var all v1alpha1.MemberClusterList
	if err := c.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	return pickMember(all.Items, name, namespace)
}

// pickMember finds the only member of a name that is not in the namespace.
func pickMember(members []v1alpha1.MemberCluster, name, namespace string) (*v1alpha1.MemberCluster, error) {
	var known, namesakes []string
	var found *v1alpha1.MemberCluster
	for i := range members {
		m := &members[i]
		known = append(known, m.Namespace+"/"+m.Name)
		if m.Name == name {
			namesakes = append(namesakes, m.Namespace+"/"+m.Name)
			found = m
		}
	}
	wanted := name
	if namespace != "" {
		wanted = namespace + "/" + name
	}
	switch {
	case len(namesakes) == 1 && namespace == "":
		return found, nil
	case len(namesakes) > 1 && namespace == "":
		return nil, fmt.Errorf("member %s may be any of %s: name it with its namespace", name, listed(namesakes))
	case len(namesakes) > 0:
		return nil, fmt.Errorf("there is no member %s; of that name there is %s", wanted, listed(namesakes))
	case len(known) == 0:
		return nil, fmt.Errorf("there is no member %s, nor any other: see synclinectl status", wanted)
	}
	return nil, fmt.Errorf("there is no member %s; there are %s", wanted, listed(known))
}

// listed joins names, and cuts a long list short.
func listed(names []string) string {
	const most = 10
	names = slices.Sorted(slices.Values(names))
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}
