package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

func TestMemberThatIsTooOldIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	gate := startGateway(t, shared.Member("us"))
	version := func(gitVersion string) {
		gate.answers(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/version" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"major": "1", "minor": "27", "gitVersion": "`+gitVersion+`"}`)
			return true
		})
	}
	version("v1.27.4")
	a := emptyArena(t, shared, nameFor(t))
	us := a.registerWith("us", shared.Member("us"), gate.kubeconfig(t, "any"))
	since := us.cluster.Audit().End()
	a.apply(webLayer, "$GREETING", "hello")
	a.eventually("the member says what is wrong with it", func(g gomega.Gomega) {
		member := a.member(g, "us")
		g.Expect(member.Status.Version).To(gomega.Equal("v1.27.4"))
		for kind, status := range map[string]metav1.ConditionStatus{
			v1alpha1.ConditionReady: metav1.ConditionFalse, v1alpha1.ConditionBarred: metav1.ConditionTrue,
		} {
			c := condition(member.Status.Conditions, kind)
			g.Expect(c.Status).To(gomega.Equal(status), kind)
			complaint{"VersionUnsupported", []string{"v1.27.4", "upgrade"}}.check(g, c.Reason, c.Message)
		}
	})
	a.eventually("so do its layers", func(g gomega.Gomega) {
		c := condition(a.binding(g, "web", "us").Status.Conditions, v1alpha1.ConditionConverged)
		complaint{"VersionUnsupported", []string{"v1.27.4"}}.check(g, c.Reason, c.Message)
		g.Expect(a.layer(g, "web").LayerStatus().State).To(gomega.Equal(v1alpha1.StateDegraded))
		g.Expect(a.layer(g, "web").LayerStatus().Message).To(gomega.ContainSubstring("v1.27.4"))
	})
	a.now("nothing was written to it", func(g gomega.Gomega) { g.Expect(us.writes(g, since, us.ours)).To(gomega.BeEmpty()) })

	// It is upgraded, and away for that.
	gate.answers(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	a.eventually("the member is away", func(g gomega.Gomega) {
		g.Expect(condition(a.member(g, "us").Status.Conditions, v1alpha1.ConditionReachable).Status).To(gomega.Equal(metav1.ConditionFalse))
	})
	version("v1.34.0")
	a.awaitReady("us")
	a.awaitConverged("web")
	a.now("it is not barred", func(g gomega.Gomega) {
		g.Expect(condition(a.member(g, "us").Status.Conditions, v1alpha1.ConditionBarred)).To(gomega.BeZero())
	})
}

// tokenUntil is a token that says when it ends, issued an hour before.
func tokenUntil(end time.Time) string {
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d}`, end.Add(-time.Hour).Unix(), end.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func TestCredentialsThatExpire(t *testing.T) {
	t.Parallel()
	const left = 25 * time.Second // time enough to converge on a busy machine
	gate := startGateway(t, shared.Member("us"))
	a := emptyArena(t, shared, nameFor(t))
	end := time.Now().Add(left)
	old := tokenUntil(end)
	a.registerWith("us", shared.Member("us"), gate.kubeconfig(t, old))
	a.awaitReady("us")
	a.apply(webLayer, "$GREETING", "hello")
	a.awaitConverged("web")
	expiring := func(g gomega.Gomega, want complaint) {
		c := condition(a.member(g, "us").Status.Conditions, v1alpha1.ConditionCredentialsExpiring)
		g.ExpectWithOffset(1, c.Status).To(gomega.Equal(metav1.ConditionTrue))
		want.check(g, c.Reason, c.Message)
	}
	a.eventually("it is said before", func(g gomega.Gomega) {
		expiring(g, complaint{"ExpiresSoon", []string{"Secret us-kubeconfig", end.UTC().Format(time.RFC3339)}})
		g.Expect(a.member(g, "us").Status.CredentialsExpire.Time).To(gomega.BeTemporally("~", end, time.Second))
	})

	gate.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.Header.Get("Authorization"), old) || time.Now().Before(end) {
			return false
		}
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return true
	})
	a.eventually("it is said when they have ended", func(g gomega.Gomega) {
		expired := complaint{"CredentialsExpired", []string{"Secret us-kubeconfig", "put a new kubeconfig there"}}
		expiring(g, expired)
		ready := condition(a.member(g, "us").Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(ready.Status).To(gomega.Equal(metav1.ConditionFalse))
		expired.check(g, ready.Reason, ready.Message)
		g.Expect(a.layer(g, "web").LayerStatus().State).To(gomega.Equal(v1alpha1.StateUnknown))
	})

	secret := kubeconfigSecret(a.namespace, "us", map[string][]byte{"value": gate.kubeconfig(t, tokenUntil(time.Now().Add(time.Hour)))})
	a.now("renew them", func(g gomega.Gomega) { g.Expect(a.hub.Update(a.Context(), secret)).To(gomega.Succeed()) })
	a.awaitReady("us")
	a.awaitConverged("web")
	a.eventually("nothing expires", func(g gomega.Gomega) {
		g.Expect(condition(a.member(g, "us").Status.Conditions, v1alpha1.ConditionCredentialsExpiring)).To(gomega.BeZero())
	})
}
