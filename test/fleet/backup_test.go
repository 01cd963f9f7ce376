package fleet

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestRestoredMemberIsAsItWas(t *testing.T) {
	member, err := shared.AddMember(t.Context(), Member{Name: "restored", OwnEtcd: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.RemoveMember(member); err != nil {
			t.Error(err)
		}
	})
	cl := clientOf(t, member)
	kept, lost := configMap(metav1.NamespaceDefault), configMap(metav1.NamespaceDefault)
	if err := cl.Create(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if err := member.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cl.Create(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	if err := member.RestoreBackup(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(kept), &corev1.ConfigMap{}); err != nil {
		t.Errorf("what the backup holds: %v", err)
	}
	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(lost), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was made later: got %v, want NotFound", err)
	}
}

func TestBackupTakesAnEtcdOfOnesOwn(t *testing.T) {
	if err := shared.Member("east").Backup(t.Context()); !errors.Is(err, errSharedEtcd) {
		t.Errorf("got %v", err)
	}
}
