package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	nodestages "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeatstages "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podstages "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
)

// prepareKwok does what kwok's main does, and adds the stages that kwok ships
// unless the arguments bring a --config.
func prepareKwok(args []string) (runner, error) {
	stages, err := stagesFor(args)
	if err != nil {
		return nil, err
	}
	if stages != "" {
		defer os.Remove(stages)
		args = append(slices.Clone(args), "--config="+stages)
	}

	// kwok reads its configuration flags from os.Args, and its cobra command takes
	// over pflag.CommandLine, where component-base has put a --version of its own.
	os.Args = append([]string{nameKwok}, args...)
	pflag.CommandLine = pflag.NewFlagSet(nameKwok, pflag.ContinueOnError)

	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := kwoklog.InitFlags(context.Background(), flags)
	ctx, err = kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	cmd := kwokcmd.NewCommand(ctx)
	cmd.PersistentFlags().AddFlagSet(flags)
	cmd.SetArgs(args)
	return func(parent context.Context) error {
		// ctx carries the configuration, parent the end of the process.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(parent, cancel)()
		return cmd.ExecuteContext(ctx)
	}, nil
}

// stagesFor writes the shipped stages to a temporary file and returns its name,
// or "" if args bring a configuration. kwok reads configuration from files only,
// and only while its flags are parsed.
func stagesFor(args []string) (string, error) {
	if slices.ContainsFunc(args, isConfigFlag) {
		return "", nil
	}
	file, err := os.CreateTemp("", "kwok-stages-*.yaml")
	if err != nil {
		return "", fmt.Errorf("write stages: %w", err)
	}
	defer file.Close()
	if _, err := file.WriteString(shippedStages()); err != nil {
		return "", fmt.Errorf("write stages: %w", err)
	}
	return file.Name(), nil
}

func isConfigFlag(arg string) bool {
	return arg == "--config" || arg == "-c" || strings.HasPrefix(arg, "--config=")
}

// shippedStages make nodes Ready and keep their leases, make scheduled pods
// Running and Ready at once, let pods of Jobs succeed, and let deleted pods go.
func shippedStages() string {
	return strings.Join([]string{
		nodestages.DefaultNodeInit,
		heartbeatstages.DefaultNodeHeartbeatWithLease,
		podstages.DefaultPodReady,
		podstages.DefaultPodComplete,
		podstages.DefaultPodDelete,
	}, "\n---\n")
}
