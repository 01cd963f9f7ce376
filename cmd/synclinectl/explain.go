package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/inventory"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/view"
	"github.com/syncline-dev/syncline/reconcilers/revision"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

func newExplain(h hub) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain MEMBER KIND/[NAMESPACE/]NAME",
		Short: "Say of every field of an object which layer set it, and which it won over",
		Long: `Say of every field of an object on a member which layer set it, and which layers it won
over. KIND is what kubectl takes: deployment, deployments, deploy, Deployment, or with its
group as in gateway.platform.example.com.

The answer is what the layers want, computed from their revisions on the hub, and which fields
were left to others when they were last applied; the member is not asked. Of kinds that
neither Kubernetes nor one of the layers defines, lists are taken whole here, while the
manager merges them by the member's own schema.`,
		Example: `  synclinectl explain eu-1 deployment/shop/web
  synclinectl explain fleet/eu-1 cm/web -o yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("name a member and an object, as in: synclinectl explain eu-1 deployment/shop/web")
			}
			return nil
		},
	}
	system := cmd.Flags().String("system-namespace", defaultSystemNamespace, "the manager's namespace on the hub, where revisions of ClusterLayers are")
	output := bindFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		wanted, err := parseTarget(args[1])
		if err != nil {
			return err
		}
		namespace, err := h.Namespace()
		if err != nil {
			return err
		}
		c, err := h.Client()
		if err != nil {
			return err
		}
		e, err := explain(cmd.Context(), c, args[0], namespace, wanted, *system)
		if err != nil {
			return fromHub(err)
		}
		return output.write(cmd.OutOrStdout(), e, e.text)
	}
	return cmd
}

func explain(ctx context.Context, c client.Client, member, namespace string, wanted target, system string) (*explanation, error) {
	m, err := findMember(ctx, c, member, namespace)
	if err != nil {
		return nil, err
	}
	placed, err := stackOf(ctx, c, revision.NewStore(c, system), m)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: if the manager's namespace is not %s, name it with --system-namespace", err, system)
	}
	if err != nil {
		return nil, err
	}
	full := m.Namespace + "/" + m.Name
	if len(placed) == 0 {
		return nil, fmt.Errorf("member %s: no layer with a revision selects it; its labels are %s", full, labelsText(m.Labels))
	}
	folded := stack.Of(placed).Fold(stack.Facts(m, m.Status.Version), layer.Builtin())
	names := namesIn(folded)
	o, err := wanted.find(folded, names)
	if err != nil {
		return nil, fmt.Errorf("member %s: %w", full, err)
	}
	yielded, err := yieldedOf(placed, o)
	if err != nil {
		return nil, fmt.Errorf("member %s: %w", full, err)
	}
	return newExplanation(full, o, folded.Problems, yielded, slices.Contains(folded.ForeignKinds(), o.GVK)), nil
}

// yieldedOf are the fields of an object that its home has left to other managers.
func yieldedOf(placed []stack.Placed, o layer.Object) ([]v1alpha1.YieldedField, error) {
	for i := range placed {
		if placed[i].Ref() != o.Home || placed[i].Binding == nil {
			continue
		}
		entries, err := inventory.Read(&placed[i].Binding.Status)
		if err != nil {
			return nil, fmt.Errorf("binding %s: %w", placed[i].Binding.Name, err)
		}
		for _, entry := range entries {
			if entry.ID == o.ID.Key() {
				return entry.Yielded, nil
			}
		}
	}
	return nil, nil
}

func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return "none"
	}
	var pairs []string
	for key, value := range labels {
		pairs = append(pairs, key+"="+value)
	}
	return listed(pairs)
}

// explanation is where an object's fields come from.
type explanation struct {
	Member string     `json:"member"`
	Object objectName `json:"object"`
	// Home is the layer whose binding answers for the object.
	Home string `json:"home"`
	// Held says that an error leaves open what the object is to be.
	Held bool `json:"held,omitempty"`
	// Foreign says that lists were taken whole, for want of a schema.
	Foreign  bool      `json:"foreign,omitempty"`
	Fields   []leaf    `json:"fields"`
	Problems []problem `json:"problems,omitempty"`

	object  layer.Object
	yielded []v1alpha1.YieldedField
	found   []object.Problem
}

type objectName struct {
	// APIVersion is empty where an error leaves it open.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// leaf is one field of the object, or one that a layer removed.
type leaf struct {
	Path    string `json:"path"`
	Value   any    `json:"value,omitempty"`
	Removed bool   `json:"removed,omitempty"`
	Ignored bool   `json:"ignored,omitempty"`
	// Yielded is the manager on the member to which the field was left.
	Yielded string  `json:"yielded,omitempty"`
	Layer   string  `json:"layer"`
	Over    []claim `json:"over,omitempty"`
}

// claim is what a layer would have had a field be.
type claim struct {
	Layer string `json:"layer"`
	Value any    `json:"value"`
}

type problem struct {
	Severity string `json:"severity"`
	Layer    string `json:"layer"`
	Path     string `json:"path,omitempty"`
	Reason   string `json:"reason"`
	Detail   string `json:"detail"`
}

func newExplanation(member string, o layer.Object, problems []object.Problem, yielded []v1alpha1.YieldedField, foreign bool) *explanation {
	e := &explanation{
		Member: member,
		Object: objectName{o.GVK.GroupVersion().String(), o.GVK.Kind, o.ID.Namespace, o.ID.Name},
		Home:   o.Home.String(), Held: o.Held, Foreign: foreign,
		Fields: []leaf{}, object: o, yielded: yielded,
	}
	for _, l := range o.Leaves() {
		f := leaf{Path: l.Path, Value: l.Value, Removed: l.Removed, Ignored: l.Ignored, Layer: l.Layer.String()}
		f.Yielded, _ = view.HolderOf(l, yielded)
		for _, c := range l.Over {
			f.Over = append(f.Over, claim{c.Layer.String(), c.Value})
		}
		e.Fields = append(e.Fields, f)
	}
	e.found = slices.DeleteFunc(slices.Clone(problems), func(p object.Problem) bool { return p.Object != o.ID })
	for _, p := range e.found {
		e.Problems = append(e.Problems, problem{string(p.Severity), p.Layer, p.Path, p.Reason, p.Detail})
	}
	return e
}

// text is the explanation for people.
func (e *explanation) text() string {
	var out strings.Builder
	if e.Held {
		fmt.Fprintf(&out, "%s is held: it is neither applied nor deleted until what is wrong is mended.\n", e.object.ID)
	} else {
		out.WriteString(view.Explain(e.object, e.yielded...))
	}
	if e.Foreign && !e.Held {
		fmt.Fprintf(&out, "\nNo layer defines %s: lists were taken whole, and the member's schema may merge them by key.\n",
			e.object.GVK.GroupKind())
	}
	if len(e.found) > 0 {
		out.WriteString("\n")
	}
	for _, p := range e.found {
		fmt.Fprintln(&out, p)
	}
	return out.String()
}
