package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// hub is how commands reach the hub. It is asked once flags have been parsed.
type hub interface {
	// Client reads and writes the hub's objects.
	Client() (client.Client, error)
	// Namespace is the one that the user chose, or "".
	Namespace() (string, error)
}

// defaultSystemNamespace is where the manager is at home unless somebody says otherwise.
const defaultSystemNamespace = "syncline-system"

// kubeconfigHub finds the hub by kubectl's rules: --kubeconfig, else $KUBECONFIG, else
// ~/.kube/config, else the service account of the pod it runs in.
type kubeconfigHub struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
}

func newKubeconfigHub() *kubeconfigHub {
	return &kubeconfigHub{rules: clientcmd.NewDefaultClientConfigLoadingRules()}
}

// bindFlags adds those of kubectl's flags that say where the hub is and who asks.
func (h *kubeconfigHub) bindFlags(flags *pflag.FlagSet) {
	flags.StringVar(&h.rules.ExplicitPath, "kubeconfig", "", "the hub's kubeconfig (default $KUBECONFIG, else ~/.kube/config)")
	clientcmd.BindOverrideFlags(&h.overrides, flags, clientcmd.ConfigOverrideFlags{
		CurrentContext: clientcmd.FlagInfo{LongName: clientcmd.FlagContext, Description: "the context of the hub's kubeconfig to use"},
		Timeout:        clientcmd.FlagInfo{LongName: clientcmd.FlagTimeout, Default: "0", Description: "how long one request to the hub may take, such as 5s; 0 is no limit"},
		ContextOverrideFlags: clientcmd.ContextOverrideFlags{
			Namespace: clientcmd.FlagInfo{LongName: clientcmd.FlagNamespace, ShortName: "n", Description: "the members' namespace on the hub"},
		},
		AuthOverrideFlags: clientcmd.AuthOverrideFlags{
			Impersonate:       clientcmd.FlagInfo{LongName: clientcmd.FlagImpersonate, Description: "the user to impersonate"},
			ImpersonateGroups: clientcmd.FlagInfo{LongName: clientcmd.FlagImpersonateGroup, Description: "a group to impersonate; may be given more than once"},
		},
	})
}

func (h *kubeconfigHub) loader() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(h.rules, &h.overrides)
}

// Client implements hub.
func (h *kubeconfigHub) Client() (client.Client, error) {
	config, err := h.loader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no kubeconfig of the hub was found: name one with --kubeconfig or $KUBECONFIG")
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the hub: %w", err)
	}
	config.QPS = -1 // the server has its own fairness
	c, err := client.New(rest.AddUserAgent(config, "synclinectl"), client.Options{Scheme: hubScheme()})
	if err != nil {
		return nil, fmt.Errorf("hub %s: %w", config.Host, err)
	}
	return c, nil
}

// Namespace implements hub. Unlike kubectl's, it is not "default" if neither a flag nor the
// context names one: members are rarely there.
func (h *kubeconfigHub) Namespace() (string, error) {
	if chosen := h.overrides.Context.Namespace; chosen != "" {
		return chosen, nil
	}
	config, err := h.loader().RawConfig()
	if err != nil {
		return "", fmt.Errorf("kubeconfig of the hub: %w", err)
	}
	name := config.CurrentContext
	if h.overrides.CurrentContext != "" {
		name = h.overrides.CurrentContext
	}
	if context := config.Contexts[name]; context != nil {
		return context.Namespace, nil
	}
	return "", nil
}

func hubScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// fromHub adds the way out to an error of the hub, where there is one.
func fromHub(err error) error {
	switch {
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%w: Syncline is not installed on this hub, or --context names another cluster", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: the hub does not accept the credentials of the kubeconfig", err)
	}
	return err
}
