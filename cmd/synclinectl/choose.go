package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	hubobjects "github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

func newApprove(h hub) *cobra.Command {
	var approved string
	cmd := &cobra.Command{
		Use:   "approve LAYER",
		Short: "Let the newest revision of a layer go to its members",
		Long: `Let the newest revision of a layer whose approval is Manual go to its members. Who approved it
and when stands in the layer's status. With --revision only that revision is approved: if a
newer one has come meanwhile, this fails.`,
		Example: `  synclinectl approve fleet/web
  synclinectl approve clusterlayer/base --revision base-5f3c9a2b10`,
		Args: exactlyOneLayer,
	}
	cmd.Flags().StringVar(&approved, "revision", "", "the revision to approve (default the newest)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return choose(cmd, h, args[0], func(_ context.Context, _ client.Client, l v1alpha1.Layered) (annotation, choice string, err error) {
			newest := l.LayerStatus().Revision
			switch {
			case newest == "":
				return "", "", fmt.Errorf("layer %s has no revision yet: see its condition %s", layer.RefOf(l), v1alpha1.ConditionRendered)
			case approved != "" && approved != newest:
				return "", "", fmt.Errorf("the newest revision of layer %s is %s and not %s: look at that one", layer.RefOf(l), newest, approved)
			}
			return v1alpha1.AnnotationApproved, newest, nil
		})
	}
	return cmd
}

func newRollback(h hub) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "rollback LAYER",
		Short: "Return the members of a layer to an earlier revision of it",
		Long: `Return the members of a layer to an earlier revision, until the layer is changed: the spec stays as
it is, and the next revision goes to members as usual. Who chose that and when stands in the
layer's status.`,
		Example: `  synclinectl rollback fleet/web
  synclinectl rollback fleet/web --to web-5f3c9a2b10`,
		Args: exactlyOneLayer,
	}
	cmd.Flags().StringVar(&to, "to", "", "the revision to return to (default the one before the newest)")
	system := cmd.Flags().String("system-namespace", defaultSystemNamespace, "the manager's namespace on the hub, where revisions of ClusterLayers are")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return choose(cmd, h, args[0], func(ctx context.Context, c client.Client, l v1alpha1.Layered) (annotation, choice string, err error) {
			history, err := revision.NewStore(c, *system).History(ctx, l)
			if err != nil {
				return "", "", err
			}
			newest := l.LayerStatus().Revision
			earlier := slices.DeleteFunc(history, func(name string) bool { return name == newest })
			switch {
			case len(earlier) == 0:
				return "", "", fmt.Errorf("layer %s has no earlier revision", layer.RefOf(l))
			case to == "":
				to = earlier[0]
			case !slices.Contains(earlier, to):
				return "", "", fmt.Errorf("layer %s has no earlier revision %s; there are %s", layer.RefOf(l), to, listed(earlier))
			}
			return v1alpha1.AnnotationRollback, to + v1alpha1.InsteadOf + newest, nil
		})
	}
	return cmd
}

func exactlyOneLayer(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one layer, as in fleet/web, or clusterlayer/base")
	}
	return nil
}

// choose writes a person's choice of a revision on a layer, with the person's name as the hub
// knows it.
func choose(cmd *cobra.Command, h hub, name string, decide func(context.Context, client.Client, v1alpha1.Layered) (annotation, choice string, err error)) error {
	namespace, err := h.Namespace()
	if err != nil {
		return err
	}
	c, err := h.Client()
	if err != nil {
		return err
	}
	l, err := findLayer(cmd.Context(), c, name, namespace)
	if err != nil {
		return fromHub(err)
	}
	annotation, choice, err := decide(cmd.Context(), c, l)
	if err != nil {
		return fromHub(err)
	}
	me := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(cmd.Context(), me); err != nil {
		return fromHub(fmt.Errorf("ask the hub who is asking: %w", err))
	}
	before := l.DeepCopyObject().(v1alpha1.Layered)
	annotations := l.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotation] = choice + v1alpha1.ChosenBy + me.Status.UserInfo.Username
	l.SetAnnotations(annotations)
	// The choice names its revisions: it stays right whatever else changes on the layer.
	if err := c.Patch(cmd.Context(), l, client.MergeFrom(before)); err != nil {
		return fromHub(fmt.Errorf("write the choice on layer %s: %w", layer.RefOf(l), err))
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "layer %s: %s. To wait until members have it:\n  kubectl wait --for=condition=Converged %s\n",
		layer.RefOf(l), choice, kubectlName(l))
	return err
}

// kubectlName is the layer as kubectl's arguments name it.
func kubectlName(l v1alpha1.Layered) string {
	name := strings.ToLower(l.LayerKind()) + "/" + l.GetName()
	if l.GetNamespace() != "" {
		name += " -n " + l.GetNamespace()
	}
	return name
}

// findLayer finds the layer that a person names: NAMESPACE/NAME, layer/NAME, clusterlayer/NAME or
// NAME, which is a Layer of the chosen namespace or else a ClusterLayer.
func findLayer(ctx context.Context, c client.Client, text, namespace string) (v1alpha1.Layered, error) {
	prefix, name, qualified := strings.Cut(text, "/")
	if !qualified {
		prefix, name = "", text
	}
	refs := []v1alpha1.LayerReference{{Kind: v1alpha1.KindLayer, Name: name}}
	switch strings.ToLower(prefix) {
	case "layer", "layers", "ly":
	case "clusterlayer", "clusterlayers", "clayer", "clayers":
		refs[0].Kind = v1alpha1.KindClusterLayer
	case "":
		refs = append(refs, v1alpha1.LayerReference{Kind: v1alpha1.KindClusterLayer, Name: name})
	default:
		namespace = prefix
	}
	for _, ref := range refs {
		if ref.Kind == v1alpha1.KindLayer && namespace == "" {
			continue
		}
		l, err := hubobjects.Get(ctx, c, ref, namespace)
		if err == nil {
			return l, nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("there is no layer %s: write NAMESPACE/NAME for a Layer, clusterlayer/NAME for a ClusterLayer", text)
}
