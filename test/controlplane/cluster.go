package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
	restclient "k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// runner runs a part until its context ends or it fails.
type runner func(context.Context) error

// part is one component of a cluster in this process.
type part struct {
	name string
	run  runner
}

// prepare reads a part's arguments. Parts are prepared one after another, before
// any of them runs: their flags, logs and feature gates touch process-wide state.
type prepare func(args []string) (runner, error)

func preparers() map[string]prepare {
	return map[string]prepare{
		nameAPIServer:         prepareAPIServer,
		nameControllerManager: prepareControllerManager,
		nameScheduler:         prepareScheduler,
		nameKwok:              prepareKwok,
	}
}

// runCluster runs the parts that args name, separated by "--", and returns when
// the first of them ends.
func runCluster(args []string) int {
	relaxGC()
	// Every part applies its logging options; the second would be refused.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	restclient.SetDefaultWarningHandler(restclient.NoWarnings{})

	parts, err := parseParts(args)
	if err != nil {
		return failed(nameCluster, err)
	}
	name, err := runParts(genericapiserver.SetupSignalContext(), parts)
	if err != nil {
		return failed(name, err)
	}
	return 0
}

// parseParts splits "NAME ARGS... -- NAME ARGS..." and prepares each part.
func parseParts(args []string) ([]part, error) {
	var parts []part
	for _, segment := range segments(args) {
		if len(segment) == 0 {
			return nil, errors.New("a part has no name")
		}
		name := segment[0]
		prepare, ok := preparers()[name]
		if !ok {
			return nil, fmt.Errorf("%q cannot run in a cluster's process", name)
		}
		run, err := prepare(segment[1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		parts = append(parts, part{name: name, run: run})
	}
	return parts, nil
}

func segments(args []string) [][]string {
	out := [][]string{nil}
	for _, arg := range args {
		if arg == "--" {
			out = append(out, nil)
			continue
		}
		out[len(out)-1] = append(out[len(out)-1], arg)
	}
	return out
}

// runParts returns the name and error of the first part that ended. It does not
// wait for the others: the process ends with it, and a part that is cut off has
// nothing to save.
func runParts(ctx context.Context, parts []part) (string, error) {
	type result struct {
		name string
		err  error
	}
	ended := make(chan result, len(parts))
	for _, p := range parts {
		go func() { ended <- result{p.name, p.run(ctx)} }()
	}
	first := <-ended
	if ctx.Err() != nil {
		return first.name, nil
	}
	if first.err == nil {
		first.err = errors.New("ended by itself")
	}
	fmt.Fprintln(os.Stderr, "cluster: stopping, a part ended:", first.name)
	return first.name, first.err
}
