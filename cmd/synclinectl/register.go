package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/clusters/registration"
)

// registerOptions are the flags of register.
type registerOptions struct {
	file       string
	context    string
	labels     string
	replace    bool
	allowProxy bool
}

func newRegister(h hub) *cobra.Command {
	var o registerOptions
	cmd := &cobra.Command{
		Use:   "register NAME --from-kubeconfig FILE -n NAMESPACE",
		Short: "Make a cluster a member that Cluster API did not make",
		Long: `Make a cluster a member that Cluster API did not make: store its kubeconfig on the hub in a
Secret of the shape that Cluster API's have. The Secret holds the one context and nothing
else; certificate files that it names are read now and stored with it.

What the hub would refuse is refused here: kubeconfigs that run a program, name a file or
choose a proxy, and servers without https. To take the member away, delete the Secret.`,
		Example: `  synclinectl register edge-7 --from-kubeconfig edge-7.yaml --labels region=eu,tier=edge -n fleet
  synclinectl register edge-7 --from-kubeconfig ~/.kube/config --from-context edge-7 -n fleet --replace`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		namespace, err := h.Namespace()
		if err != nil {
			return err
		}
		secret, err := o.secret(namespace, args[0])
		if err != nil {
			return err
		}
		c, err := h.Client()
		if err != nil {
			return err
		}
		verb, err := o.store(cmd.Context(), c, secret)
		if err != nil {
			return fromHub(err)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "Secret %s/%s %s. To wait until the member is Ready:\n"+
			"  kubectl wait --for=condition=Ready -n %s membercluster/%s\n",
			namespace, secret.Name, verb, namespace, args[0])
		return err
	}
	flags := cmd.Flags()
	flags.StringVar(&o.file, "from-kubeconfig", "", "the kubeconfig by which the hub is to reach the cluster")
	flags.StringVar(&o.context, "from-context", "", "the context in it to use (default its current one)")
	flags.StringVar(&o.labels, "labels", "", "the member's labels, by which layers select it, such as region=eu,tier=edge")
	flags.BoolVar(&o.replace, "replace", false, "replace the kubeconfig and labels of a member that is registered already")
	flags.BoolVar(&o.allowProxy, "allow-proxy", false, "accept a proxy-url, where the hub's manager runs with --allow-proxy")
	_ = cmd.MarkFlagRequired("from-kubeconfig")
	return cmd
}

// secret is the Secret that makes the cluster a member, by the hub's own rules.
func (o *registerOptions) secret(namespace, name string) (*corev1.Secret, error) {
	if namespace == "" {
		return nil, errors.New("--namespace is needed: the member's layers are those of its namespace and all ClusterLayers")
	}
	if faults := validation.IsDNS1123Label(name); len(faults) > 0 {
		return nil, fmt.Errorf("NAME %q cannot be a member's name: %s", name, faults[0])
	}
	labels, err := parseLabels(o.labels)
	if err != nil {
		return nil, err
	}
	if _, taken := labels[registration.LabelCluster]; taken {
		return nil, fmt.Errorf("--labels: %s is the member's name and set by itself: leave it out", registration.LabelCluster)
	}
	labels[registration.LabelCluster] = name
	kubeconfig, err := standalone(o.file, o.context)
	if err != nil {
		return nil, fmt.Errorf("--from-kubeconfig %s: %w", o.file, err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + registration.SecretSuffix, Labels: labels},
		Type:       registration.SecretType,
		Data:       map[string][]byte{registration.SecretKey: kubeconfig},
	}
	_, err = registration.FromSecret(secret, registration.Options{AllowProxy: o.allowProxy})
	var refused *registration.RefusedError
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("--from-kubeconfig %s would be refused by the hub: %s: %s", o.file, refused.Field, refused.Message)
	}
	return secret, err
}

// standalone is one context of a kubeconfig, with what it needs of the files that it names.
func standalone(file, context string) ([]byte, error) {
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return nil, err
	}
	if context != "" {
		if config.Contexts[context] == nil {
			return nil, fmt.Errorf("--from-context: there is no context %q in it", context)
		}
		config.CurrentContext = context
	}
	if config.CurrentContext == "" {
		return nil, errors.New("it has no current context: choose one with --from-context")
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, err
	}
	// Paths in it are relative to where it lies.
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, err
	}
	return clientcmd.Write(*config)
}

// store creates the Secret, or replaces what an earlier registration stored. It says which.
func (o *registerOptions) store(ctx context.Context, c client.Client, secret *corev1.Secret) (string, error) {
	err := c.Create(ctx, secret)
	switch {
	case err == nil:
		return "created", nil
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("%w: make the namespace first", err)
	case !apierrors.IsAlreadyExists(err):
		return "", fmt.Errorf("store the kubeconfig: %w", err)
	case !o.replace:
		return "", fmt.Errorf("Secret %s/%s exists: replace its kubeconfig with --replace, or choose another name", secret.Namespace, secret.Name)
	}
	var old corev1.Secret
	if err := c.Get(ctx, client.ObjectKeyFromObject(secret), &old); err != nil {
		return "", fmt.Errorf("read what is to be replaced: %w", err)
	}
	where := fmt.Sprintf("Secret %s/%s", old.Namespace, old.Name)
	switch _, isMember := registration.MemberOf(&old); {
	case metav1.GetControllerOf(&old) != nil:
		return "", fmt.Errorf("%s belongs to %s %s, which renews it: it is not replaced", where, metav1.GetControllerOf(&old).Kind, metav1.GetControllerOf(&old).Name)
	case !isMember, old.Type != secret.Type:
		return "", fmt.Errorf("%s is no member's kubeconfig and is not replaced: choose another name", where)
	}
	old.Labels, old.Data = secret.Labels, secret.Data
	if err := c.Update(ctx, &old); err != nil {
		return "", fmt.Errorf("replace the kubeconfig: %w", err)
	}
	return "replaced", nil
}
