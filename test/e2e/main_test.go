package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/syncline-dev/syncline/test/fleet"
	"github.com/syncline-dev/syncline/test/install"
)

var (
	// shared is the hub with the members "eu", "us" and "lone". Every test may use the first
	// two; the third is frozen and made anew by the tests of away_test.go.
	shared *fleet.Fleet
	// product is Syncline on that hub.
	product *install.Installation
)

// sideBySide is how many tests run at a time: they wait much and compute little.
const sideBySide = "8"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	flag.Parse()
	if !isSet("test.parallel") {
		if err := flag.Set("test.parallel", sideBySide); err != nil {
			return failed(err)
		}
	}
	ctx := context.Background()
	f, err := fleet.Start(ctx, fleet.Config{
		Members: []fleet.Member{
			{Name: "eu", Labels: map[string]string{"region": "eu"}},
			{Name: "us", Labels: map[string]string{"region": "us"}, ServiceCIDR: "10.96.0.0/16"},
			{Name: "lone"},
		},
		Dir:      os.Getenv("SYNCLINE_E2E_DIR"),
		Progress: os.Stderr,
	})
	if err != nil {
		return failed(err)
	}
	defer func() {
		if err := f.Stop(); err != nil {
			code = failed(err)
		}
	}()
	shared = f
	product, err = install.Install(ctx, f, install.Options{Replicas: 2, Race: true, Args: []string{
		"--probe-interval=2s",       // a member's absence is noticed within a test
		"--allow-duplicate-members", // every test registers the same few clusters
	}})
	if err != nil {
		return failed(err)
	}
	code = m.Run()
	if faults := product.Faults(); len(faults) > 0 {
		return failed(fmt.Errorf("managers' logs:\n%s", strings.Join(faults, "\n")))
	}
	return code
}

func isSet(name string) bool {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}
