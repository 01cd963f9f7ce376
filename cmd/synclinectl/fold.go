package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/rollout"
	"github.com/syncline-dev/syncline/federation/view"
	"github.com/syncline-dev/syncline/reconcilers/revision"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// foldOptions are the flags of fold.
type foldOptions struct {
	files     []string
	recursive bool
	member    string
	namespace string
	labels    string
	// selecting says that labels were given, if only none.
	selecting bool
	version   string
	system    string
	explain   bool
	secrets   bool
}

func newFold() *cobra.Command {
	var o foldOptions
	cmd := &cobra.Command{
		Use:   "fold -f FILE|DIRECTORY|- ...",
		Short: "Fold layers in files into the objects that a member would have; no cluster is asked",
		Long: `Fold the Layers and ClusterLayers in files into the objects that a member would have, and
write these as YAML. ConfigMaps and Secrets that manifestsFrom names are looked for in the
same files; whatever else is in there is passed over. A namespace that a Layer, ConfigMap or
Secret does not name is that of the member.

With --labels, selectors decide which layers the member has. Without, it has every layer
that could reach it: the Layers of its namespace and all ClusterLayers.

Problems go to standard error; with an error among them the command fails, and the objects
concerned are left out. Values of Secrets are hidden unless --show-secrets is given.`,
		Example: `  synclinectl fold -f deploy/examples --member eu-1 --labels region=eu,tier=prod
  synclinectl fold -f layers/ --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.selecting = cmd.Flags().Changed("labels")
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "files or directories to read; - is standard input")
	flags.BoolVarP(&o.recursive, "recursive", "R", false, "read directories within directories")
	flags.StringVar(&o.member, "member", "member", "the member's name, as templates see it")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the member's namespace (default the only one that Layers name)")
	flags.StringVar(&o.labels, "labels", "", "the member's labels, such as region=eu,tier=prod")
	flags.StringVar(&o.version, "version", "", "the member's Kubernetes version, such as v1.36.3")
	flags.StringVar(&o.system, "system-namespace", defaultSystemNamespace, "the manager's namespace, from which ClusterLayers read")
	flags.BoolVar(&o.explain, "explain", false, "say above each object which layer set which field")
	flags.BoolVar(&o.secrets, "show-secrets", false, "write the values of Secrets, too")
	_ = cmd.MarkFlagRequired("filename")
	return cmd
}

func (o *foldOptions) run(ctx context.Context, in io.Reader, out, problems io.Writer) error {
	files, err := readFiles(o.files, o.recursive, in)
	if err != nil {
		return err
	}
	member, err := o.memberOf(files)
	if err != nil {
		return err
	}
	files.settle(member.Namespace)
	layers, err := o.stack(ctx, files, member)
	if err != nil {
		return err
	}
	folded := layers.Fold(stack.Facts(member, o.version), layer.Builtin())
	if err := o.write(out, folded); err != nil {
		return err
	}
	failed := 0
	for _, p := range folded.Problems {
		if p.Severity == object.Error {
			failed++
		}
		if _, err := fmt.Fprintln(problems, p); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s; the objects concerned are left out", count(failed, "error stands above", "errors stand above"))
	}
	return nil
}

// memberOf is the member that the flags describe.
func (o *foldOptions) memberOf(files *hubFiles) (*v1alpha1.MemberCluster, error) {
	labels, err := parseLabels(o.labels)
	if err != nil {
		return nil, err
	}
	m := &v1alpha1.MemberCluster{ObjectMeta: metav1.ObjectMeta{Name: o.member, Namespace: o.namespace, Labels: labels}}
	if m.Namespace != "" {
		return m, nil
	}
	named := files.namespaces()
	switch len(named) {
	case 0:
		m.Namespace = metav1.NamespaceDefault
	case 1:
		m.Namespace = named[0]
	default:
		return nil, fmt.Errorf("--namespace: the Layers are of several namespaces, say which is the member's: %s", strings.Join(named, ", "))
	}
	return m, nil
}

// inFiles is the one revision of a layer in files.
const inFiles = "in-files"

// stack is the member's stack.
func (o *foldOptions) stack(ctx context.Context, files *hubFiles, member *v1alpha1.MemberCluster) (layer.Stack, error) {
	var placed []stack.Placed
	for _, l := range files.layers {
		has := l.LayerKind() == v1alpha1.KindClusterLayer || l.GetNamespace() == member.Namespace
		if o.selecting {
			var err error
			if has, err = rollout.Selects(l, member); err != nil {
				return nil, fmt.Errorf("layer %s: %w", layer.RefOf(l), err)
			}
		}
		if !has {
			continue
		}
		content, err := revision.Gather(ctx, l, o.system, files.data)
		if unusable := (*revision.UnusableError)(nil); errors.As(err, &unusable) && unusable.Reason == revision.ReasonSourceNotFound {
			return nil, fmt.Errorf("%w, or add its file with -f", err)
		}
		if err != nil {
			return nil, err
		}
		placed = append(placed, stack.Placed{Layer: l, Choice: convergence.Choice{Given: inFiles}, Content: content.Whole()})
	}
	if len(placed) == 0 {
		return nil, errors.New("none of the layers in the files reaches the member: see --labels and --namespace")
	}
	return stack.Of(placed), nil
}

// write writes the objects in the order in which they are applied.
func (o *foldOptions) write(out io.Writer, folded *layer.Folded) error {
	var text strings.Builder
	for _, folded := range folded.Objects {
		if folded.Held {
			continue
		}
		if text.Len() > 0 {
			text.WriteString("---\n")
		}
		if o.explain {
			text.WriteString(provenance(folded))
		}
		value := folded.Value
		if folded.Confidential && !o.secrets {
			value = masked(value)
		}
		raw, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("write %s: %w", folded.ID, err)
		}
		text.Write(raw)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// provenance is a comment that says where the object's fields come from.
func provenance(o layer.Object) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s of layer %s\n#\n", o.ID, o.Home)
	for line := range strings.Lines(view.Explain(o)) {
		out.WriteString("# " + line)
	}
	return out.String()
}

// masked is a confidential object with its values hidden, all but those by which people
// know it.
func masked(value map[string]any) map[string]any {
	out := maps.Clone(value)
	for name, v := range out {
		switch name {
		case "apiVersion", "kind":
		case "metadata":
			metadata, _ := v.(map[string]any)
			shown := maps.Clone(metadata)
			for name, v := range shown {
				if !slices.Contains([]string{"name", "namespace", "labels"}, name) {
					shown[name] = hidden(v)
				}
			}
			out[name] = shown
		default:
			out[name] = hidden(v)
		}
	}
	return out
}

// hidden keeps the shape of a value and hides what it says.
func hidden(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = hidden(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = hidden(item)
		}
		return out
	}
	return layer.Hidden
}
