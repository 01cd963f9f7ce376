package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	// Parts of the real programs that register themselves.
	_ "time/tzdata"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// program runs one part as its own program would run: args are what follows its
// name. It returns the exit code, or exits by itself.
type program func(args []string) int

func main() {
	name, args := called(os.Args)
	run, ok := programs()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: %s PROGRAM ARGS...\nprograms: %s\n", filepath.Base(os.Args[0]), strings.Join(names(), ", "))
		os.Exit(2)
	}
	os.Exit(run(args))
}

// called returns which program argv asks for, and its arguments. The name of the
// link counts first; by any other name, the first argument does.
func called(argv []string) (string, []string) {
	base := strings.TrimSuffix(filepath.Base(argv[0]), ".exe")
	if slices.Contains(names(), base) {
		return base, argv[1:]
	}
	if len(argv) < 2 {
		return "", nil
	}
	return argv[1], argv[2:]
}

func names() []string {
	var out []string
	for name := range programs() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
