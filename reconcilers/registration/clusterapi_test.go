package registration

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A member's labels and pause may be those of a Cluster. While it is not known whether there
// is one nothing is read and nothing written: there is not even a client to do so.
func TestNothingIsJudgedBeforeClustersCanBeRead(t *testing.T) {
	eu := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "fleet", Name: "eu-1"}}
	known := undecided
	var failure error
	r := &Reconciler{ClusterAPI: func(context.Context) (clusterAPI, error) { return known, failure }}

	result, err := r.Reconcile(t.Context(), eu)
	if err != nil || result.RequeueAfter <= 0 {
		t.Errorf("undecided: got %v and %v, want another pass soon", result, err)
	}

	failure = errors.New("the hub's cache has not begun")
	if _, err := r.Reconcile(t.Context(), eu); !errors.Is(err, failure) {
		t.Errorf("got %v, want the error of the look", err)
	}
}
