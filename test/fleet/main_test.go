package fleet

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var shared *Fleet

// TestMain is also the process that TestKilledTestLeavesNothingBehind kills.
func TestMain(m *testing.M) {
	if os.Getenv(doomedVariable) != "" {
		liveUntilKilled()
	}
	cfg := Config{Members: []Member{
		{Name: "east", Labels: map[string]string{"region": "east"}},
		{Name: "west", Labels: map[string]string{"region": "west"}, Nodes: 2, ServiceCIDR: "10.96.0.0/16"},
	}}
	code := run(m, cfg, &shared)
	if code == 0 {
		code = checkNothingLeft()
	}
	os.Exit(code)
}

// checkNothingLeft runs after Stop: no process and no goroutine may be left.
func checkNothingLeft() int {
	for _, pid := range shared.pids() {
		if alive(pid) {
			fmt.Fprintf(os.Stderr, "process %d outlived Stop\n", pid)
			return 1
		}
	}
	if _, err := os.Stat(shared.Dir()); !os.IsNotExist(err) {
		fmt.Fprintf(os.Stderr, "%s outlived Stop: %v\n", shared.Dir(), err)
		return 1
	}
	// A proxy whose two ends close at the same time can leave a goroutine behind.
	if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*NoopToxic).Pipe")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
