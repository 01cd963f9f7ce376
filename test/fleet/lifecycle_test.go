package fleet

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeploymentRollsOut(t *testing.T) {
	member := shared.Member("east")
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: member.Namespace(t), Name: "app"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "app"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "app"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
			},
		},
	}
	begin := time.Now()
	member.Create(t, deployment)
	cl := clientOf(t, member)
	eventually(t, "the Deployment to be available", func(ctx context.Context) (bool, error) {
		err := cl.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)
		return deployment.Status.AvailableReplicas == 3, err
	})
	t.Logf("3 replicas available after %s", time.Since(begin))
}

func TestServicesGetAddressesOfTheirOwnRange(t *testing.T) {
	for name, want := range map[string]string{"east": "10.0.0.1", "west": "10.96.0.1"} {
		var service corev1.Service
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}
		if err := clientOf(t, shared.Member(name)).Get(t.Context(), key, &service); err != nil {
			t.Fatal(err)
		}
		if service.Spec.ClusterIP != want {
			t.Errorf("%s: address %s, want %s", name, service.Spec.ClusterIP, want)
		}
	}
}

func TestFrozenMemberAnswersOnceThawed(t *testing.T) {
	member := shared.Member("west")
	cl := clientOf(t, member)
	read := func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		return cl.List(ctx, &corev1.NodeList{})
	}
	if err := read(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := member.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := read(time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("frozen member: got %v, want a timeout", err)
	}
	if err := clientOf(t, shared.Member("east")).List(t.Context(), &corev1.NodeList{}); err != nil {
		t.Errorf("its sibling: %v", err)
	}
	if err := member.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := read(time.Minute); err != nil {
		t.Errorf("thawed member: %v", err)
	}
}

func TestKilledMemberComesBackWithItsData(t *testing.T) {
	member := shared.Member("west")
	config := configMap(metav1.NamespaceDefault)
	member.Create(t, config)
	cl := clientOf(t, member)

	if err := member.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cl.List(t.Context(), &corev1.NodeList{}); err == nil {
		t.Error("a killed member answered")
	}
	if err := member.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The client of before: port and certificates are the same.
	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
		t.Errorf("after restart: %v", err)
	}
}

func TestRecreatedMemberIsEmptyAndHasANewCA(t *testing.T) {
	member := shared.Member("west")
	config := configMap(metav1.NamespaceDefault)
	member.Create(t, config)
	before, old := member.RESTConfig(), clientOf(t, member)

	if err := member.Recreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := old.Get(t.Context(), client.ObjectKeyFromObject(config), config); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("the old certificates: got %v, want a refusal", err)
	}
	if after := member.RESTConfig(); after.Host != before.Host {
		t.Errorf("moved from %s to %s", before.Host, after.Host)
	}
	err := clientOf(t, member).Get(t.Context(), client.ObjectKeyFromObject(config), config)
	if !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want NotFound", err)
	}
}

func TestMemberComesAndGoes(t *testing.T) {
	member, err := shared.AddMember(t.Context(), Member{Name: "late"})
	if err != nil {
		t.Fatal(err)
	}
	if shared.Member("late") != member {
		t.Error("the new member is not listed")
	}
	if _, err := shared.AddMember(t.Context(), Member{Name: "late"}); err == nil {
		t.Error("a name was given twice")
	}
	pids := member.pids()
	if err := shared.RemoveMember(member); err != nil {
		t.Fatal(err)
	}
	if shared.Member("late") != nil {
		t.Error("the removed member is still listed")
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d outlived its member", pid)
		}
	}
}

func configMap(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"},
		Data:       map[string]string{"key": "value"},
	}
}

func clientOf(t *testing.T, c *Cluster) client.Client {
	t.Helper()
	cl, err := c.Client(nil)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

func eventually(t *testing.T, what string, done func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := poll(ctx, what, done); err != nil {
		t.Fatal(err)
	}
}
