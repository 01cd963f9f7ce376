package fleet

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestGatewayAsksInTheNameOfItsClient(t *testing.T) {
	var passed atomic.Int32
	gateway, err := shared.Member("east").StartGateway(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			passed.Add(1)
			next.ServeHTTP(w, r)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(); err != nil {
			t.Error(err)
		}
	})
	kubeconfig, err := gateway.KubeconfigFor("alice", "readers")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	reviews := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews()
	review, err := reviews.Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if user := review.Status.UserInfo; user.Username != "alice" || !slices.Contains(user.Groups, "readers") {
		t.Errorf("the member takes the client for %+v", user)
	}
	if passed.Load() == 0 {
		t.Error("the request did not pass the gateway")
	}
}
