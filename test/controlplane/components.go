package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controllermanageroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// The components' cobra commands cannot share a process: each installs signal
// handlers, and a second installation panics. So what follows does what their
// RunE does, from the same options.

// prepareAPIServer owns the process's feature gates: --feature-gates of the other
// parts changes no more than their own copy.
func prepareAPIServer(args []string) (runner, error) {
	s := apiserveroptions.NewServerRunOptions()
	if err := parse(nameAPIServer, s.Flags(), args); err != nil {
		return nil, err
	}
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("apply feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(s.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return nil, fmt.Errorf("apply logging options: %w", err)
	}
	return func(ctx context.Context) error {
		completed, err := s.Complete(ctx)
		if err != nil {
			return fmt.Errorf("complete options: %w", err)
		}
		if errs := completed.Validate(); len(errs) != 0 {
			return utilerrors.NewAggregate(errs)
		}
		return kubeapiserver.Run(ctx, completed)
	}, nil
}

func prepareControllerManager(args []string) (runner, error) {
	s, err := controllermanageroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return nil, fmt.Errorf("default options: %w", err)
	}
	if s.ComponentGlobalsRegistry, err = ownRegistry(); err != nil {
		return nil, err
	}
	all := kubecontrollermanager.KnownControllers()
	disabled := kubecontrollermanager.ControllersDisabledByDefault()
	aliases := kubecontrollermanager.ControllerAliases()
	flags := s.Flags(all, disabled, aliases)
	if err := parse(nameControllerManager, flags, args); err != nil {
		return nil, err
	}
	s.ParsedFlags = &flags
	if err := s.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("apply feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(s.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return nil, fmt.Errorf("apply logging options: %w", err)
	}
	return func(ctx context.Context) error {
		// It exits for good if it finds the API server unready.
		if err := waitReady(ctx, s.Generic.ClientConnection.Kubeconfig); err != nil {
			return err
		}
		config, err := s.Config(ctx, all, disabled, aliases)
		if err != nil {
			return fmt.Errorf("read options: %w", err)
		}
		return kubecontrollermanager.Run(ctx, config.Complete())
	}, nil
}

func prepareScheduler(args []string) (runner, error) {
	s := scheduleroptions.NewOptions()
	registry, err := ownRegistry()
	if err != nil {
		return nil, err
	}
	s.ComponentGlobalsRegistry = registry
	if err := parse(nameScheduler, *s.Flags, args); err != nil {
		return nil, err
	}
	if err := s.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("apply feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(s.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return nil, fmt.Errorf("apply logging options: %w", err)
	}
	return func(ctx context.Context) error {
		if err := waitReady(ctx, s.Deprecated.Kubeconfig); err != nil {
			return err
		}
		config, scheduler, err := kubescheduler.Setup(ctx, s)
		if err != nil {
			return fmt.Errorf("set up: %w", err)
		}
		return kubescheduler.Run(ctx, config, scheduler)
	}, nil
}

func parse(name string, flags cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet(name, pflag.ContinueOnError)
	for _, set := range flags.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(args); err != nil {
		return err
	}
	if all.NArg() > 0 {
		return fmt.Errorf("takes no arguments, got %q", all.Args())
	}
	return nil
}

// ownRegistry keeps a part's versions and feature gates apart from the API
// server's, which are the process's defaults: two parts that write to the same
// registry overwrite each other's flags.
func ownRegistry() (basecompatibility.ComponentGlobalsRegistry, error) {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	registry := basecompatibility.NewComponentGlobalsRegistry()
	err := registry.Register(basecompatibility.DefaultKubeComponent, compatibility.DefaultBuildEffectiveVersion(), gates)
	if err != nil {
		return nil, fmt.Errorf("register feature gates: %w", err)
	}
	return registry, nil
}
