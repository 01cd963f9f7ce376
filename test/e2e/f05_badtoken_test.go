package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// census counts requests by the token that they bear, and accepts none.
type census struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *census) refuse(w http.ResponseWriter, r *http.Request) bool {
	c.mu.Lock()
	c.counts[r.Header.Get("Authorization")]++
	c.mu.Unlock()
	w.WriteHeader(http.StatusUnauthorized)
	return true
}

// begin starts to count anew, and returns the highest count so far.
func (c *census) begin() (most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.counts {
		most = max(most, n)
	}
	c.counts = map[string]int{}
	return most
}

func TestF05BadTokensCostLittle(t *testing.T) {
	t.Parallel()
	const (
		members = 20
		settled = 12 * time.Second // by then a member is asked every ten seconds
		window  = 15 * time.Second
		most    = 6 // requests to one member in the window: two probes and a reserve
	)
	gate := startGateway(t, shared.Member("eu"))
	refused := &census{}
	refused.begin()
	gate.answers(refused.refuse)
	a := emptyArena(t, shared, nameFor(t))
	names := make([]string, members)
	for i := range names {
		names[i] = fmt.Sprintf("bad-%d", i)
		a.create(a.hub, kubeconfigSecret(a.namespace, names[i], map[string][]byte{"value": gate.kubeconfig(t, names[i])}))
	}
	for _, name := range names {
		a.eventually("member "+name+" says what is wrong", func(g gomega.Gomega) {
			reachable := condition(a.member(g, name).Status.Conditions, v1alpha1.ConditionReachable)
			g.Expect(reachable.Status).To(gomega.Equal(metav1.ConditionFalse))
			g.Expect(reachable.Message).To(gomega.ContainSubstring("does not accept the credentials"))
		})
	}

	time.Sleep(settled)
	refused.begin()
	time.Sleep(window)
	if n := refused.begin(); n > most {
		t.Errorf("%d requests to one member in %s, want %d at most", n, window, most)
	}
	gate.answers(nil)
	a.awaitReady(names...)
	for _, name := range names {
		if lines := a.logged("Reachability changed", a.namespace+"/"+name+`"`); len(lines) != 2 {
			t.Errorf("%s: lost and found should be logged once each:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}

// logged are the lines of the managers' logs that hold all of some texts.
func (a *arena) logged(texts ...string) []string {
	a.Helper()
	var found []string
	for _, replica := range product.Replicas {
		content, err := os.ReadFile(replica.LogPath())
		if err != nil {
			a.Fatal(err)
		}
	lines:
		for line := range strings.Lines(string(content)) {
			for _, text := range texts {
				if !strings.Contains(line, text) {
					continue lines
				}
			}
			found = append(found, line)
		}
	}
	return found
}
