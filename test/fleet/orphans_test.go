package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// doomedVariable tells this test program that it is the one to be killed.
const doomedVariable = "FLEET_TEST_DOOMED"

func TestKilledTestLeavesNothingBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children with their parent")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), doomedVariable+"=1", "TMPDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPids(t, bufio.NewScanner(out))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the killed process ended with %v", err)
	}
	eventually(t, "the killed test's processes to end", func(context.Context) (bool, error) {
		for _, pid := range pids {
			if alive(pid) {
				return false, fmt.Errorf("process %d is alive", pid)
			}
		}
		return true, nil
	})
}

// readPids reads a line for each process of the doomed fleet: etcd, the hub and
// one frozen member.
func readPids(t *testing.T, lines *bufio.Scanner) []int {
	t.Helper()
	var pids []int
	for lines.Scan() && lines.Text() != "" {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the doomed process wrote %q", lines.Text())
		}
		if !alive(pid) {
			t.Errorf("process %d is dead too early", pid)
		}
		pids = append(pids, pid)
	}
	if len(pids) < 3 {
		t.Fatalf("the doomed fleet has the processes %v", pids)
	}
	return pids
}

// liveUntilKilled starts a fleet, tells its processes and never returns.
func liveUntilKilled() {
	f, err := Start(context.Background(), Config{Members: Members(1), WithoutClusterAPI: true})
	if err == nil {
		err = f.Member("member-1").Freeze()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, pid := range f.pids() {
		fmt.Println(pid)
	}
	fmt.Println()
	time.Sleep(time.Hour)
}

func (f *Fleet) pids() []int {
	pids := append([]int{f.etcd.process.pid()}, f.hub.pids()...)
	for _, c := range f.Members() {
		pids = append(pids, c.pids()...)
	}
	return pids
}

func (c *Cluster) pids() []int {
	var pids []int
	for _, p := range c.processes() {
		pids = append(pids, p.pid())
	}
	return pids
}

// alive tells whether a process runs. A zombie does too, for whoever asks the
// kernel; but the children of a dead process are reaped by init.
func alive(pid int) bool {
	return syscall.Kill(pid, 0) == nil
}
