package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/view"
	hubobjects "github.com/syncline-dev/syncline/reconcilers/hub"
)

func newStatus(h hub, now clock.PassiveClock) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show every layer on every member",
		Long: `Show every layer on every member: layers from top to bottom, members from left to right.

  ● converged, with its objects    ◐ progressing, healthy of all objects
  ✕ degraded   ‖ paused   ? not to be seen   · the layer does not select the member

Without -n, and without a namespace in the kubeconfig's context, all members are shown.`,
		Example: `  synclinectl status
  synclinectl status -n fleet -o json`,
		Args: cobra.NoArgs,
	}
	all := cmd.Flags().BoolP("all-namespaces", "A", false, "members of all namespaces, whatever the context says")
	output := bindFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		namespace, err := h.Namespace()
		if err != nil {
			return err
		}
		if *all {
			namespace = metav1.NamespaceAll
		}
		c, err := h.Client()
		if err != nil {
			return err
		}
		s, err := lookAtHub(cmd.Context(), c, namespace, metav1.NewTime(now.Now()))
		if err != nil {
			return fromHub(err)
		}
		return output.write(cmd.OutOrStdout(), s, s.text)
	}
	return cmd
}

// status is the layered view of the members of one namespace, or of all.
type status struct {
	view.Table
	// Unready are the members that are not Ready, by name.
	Unready []unreadyMember `json:"unready,omitempty"`
	// Paused says that nothing is written to any member.
	Paused bool `json:"paused,omitempty"`

	namespace string
	now       metav1.Time
}

// unreadyMember is a member that is not Ready, and why.
type unreadyMember struct {
	Member  string `json:"member"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// LastSeen is when a member last answered that does not now.
	LastSeen *metav1.Time `json:"lastSeen,omitempty"`
}

func lookAtHub(ctx context.Context, c client.Reader, namespace string, now metav1.Time) (status, error) {
	s := status{namespace: namespace, now: now}
	layers, err := hubobjects.LayersWithin(ctx, c, namespace)
	if err != nil {
		return s, err
	}
	var list v1alpha1.MemberClusterList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return s, fmt.Errorf("list members: %w", err)
	}
	var bindings v1alpha1.LayerBindingList
	if err := c.List(ctx, &bindings, client.InNamespace(namespace)); err != nil {
		return s, fmt.Errorf("list bindings: %w", err)
	}
	var federation v1alpha1.Federation
	err = c.Get(ctx, client.ObjectKey{Name: v1alpha1.FederationName}, &federation)
	if client.IgnoreNotFound(err) != nil {
		return s, fmt.Errorf("read Federation %s: %w", v1alpha1.FederationName, err)
	}
	members := make([]*v1alpha1.MemberCluster, len(list.Items))
	for i := range list.Items {
		members[i] = &list.Items[i]
	}
	s.Paused = federation.Spec.Paused
	s.Unready = unready(members)
	s.Table, err = view.NewTable(layers, members, bindings.Items, now)
	return s, err
}

func unready(members []*v1alpha1.MemberCluster) []unreadyMember {
	var found []unreadyMember
	for _, m := range members {
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		switch name := m.Namespace + "/" + m.Name; {
		case ready == nil:
			found = append(found, unreadyMember{Member: name, Reason: "Pending", Message: "the hub's manager has not looked at it yet"})
		case ready.Status != metav1.ConditionTrue:
			found = append(found, unreadyMember{name, ready.Reason, ready.Message, m.Status.LastSeen})
		}
	}
	slices.SortFunc(found, func(a, b unreadyMember) int { return cmp.Compare(a.Member, b.Member) })
	return found
}

// text is the view for people.
func (s status) text() string {
	where := "on this hub"
	if s.namespace != "" {
		where = "in namespace " + s.namespace
	}
	var out strings.Builder
	switch {
	case len(s.Members) == 0 && len(s.Rows) == 0:
		fmt.Fprintf(&out, "There are no members and no layers %s yet.\n", where)
	case len(s.Members) == 0:
		fmt.Fprintf(&out, "There are no members %s yet; %s waiting for them.\n", where, count(len(s.Rows), "layer is", "layers are"))
	case len(s.Rows) == 0:
		fmt.Fprintf(&out, "There are no layers %s yet; %s waiting for them: %s.\n",
			where, count(len(s.Members), "member is", "members are"), strings.Join(s.Members, ", "))
	default:
		out.WriteString(s.Table.String())
	}
	if len(s.Members) == 0 {
		out.WriteString("\nA cluster that Cluster API makes becomes a member by itself. Register another one with\n" +
			"  synclinectl register NAME --from-kubeconfig FILE -n NAMESPACE\n")
	}
	if len(s.Rows) == 0 {
		out.WriteString("\nA layer is a Layer, for the members of its namespace, or a ClusterLayer, for all. See\n" +
			"  kubectl explain layer.spec\n")
	}
	if s.Paused {
		fmt.Fprintf(&out, "\nWriting is paused for all members: spec.paused of Federation %s is true.\n", v1alpha1.FederationName)
	}
	if len(s.Unready) > 0 {
		out.WriteString("\nNot ready:\n")
	}
	for _, m := range s.Unready {
		fmt.Fprintf(&out, "  %s: %s: %s", m.Member, m.Reason, m.Message)
		if m.LastSeen != nil {
			fmt.Fprintf(&out, " (last seen %s ago)", duration.HumanDuration(max(s.now.Sub(m.LastSeen.Time), 0)))
		}
		out.WriteString("\n")
	}
	return out.String()
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
