package e2e

import (
	"context"
	"fmt"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/test/fleet"
)

// site is a member as one test uses it: looked at and meddled with directly, past the hub.
type site struct {
	arena   *arena
	name    string // of the MemberCluster
	cluster *fleet.Cluster
	client  client.Client
}

func (s *site) makeNamespace() {
	s.arena.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: s.arena.namespace, Labels: map[string]string{labelArena: s.arena.namespace},
	}}
	// Two sites of one test may be one cluster.
	if err := s.client.Create(s.arena.Context(), ns); err != nil && !apierrors.IsAlreadyExists(err) {
		s.arena.Fatalf("make namespace on %s: %v", s.name, err)
	}
}

func (s *site) cleanUp(ctx context.Context) {
	s.client = clientOf(s.arena.T, s.cluster) // it may have been made anew
	err := s.client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.arena.namespace}})
	if client.IgnoreNotFound(err) != nil {
		s.arena.Logf("clean up on %s: %v", s.name, err)
	}
	s.arena.discard(ctx, s.client, &apiextensionsv1.CustomResourceDefinition{}, client.MatchingLabels{labelArena: s.arena.namespace})
}

// find reads an object of the test's namespace, or a cluster-scoped one.
func (s *site) find(apiVersion, kind, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	key := client.ObjectKey{Name: name}
	if namespaced, err := s.client.IsObjectNamespaced(u); err != nil {
		return nil, err
	} else if namespaced {
		key.Namespace = s.arena.namespace
	}
	return u, s.client.Get(s.arena.Context(), key, u)
}

// object is find for an object that must be there.
func (s *site) object(g gomega.Gomega, apiVersion, kind, name string) *unstructured.Unstructured {
	u, err := s.find(apiVersion, kind, name)
	g.ExpectWithOffset(1, err).NotTo(gomega.HaveOccurred(), "%s %s on %s", kind, name, s.name)
	return u
}

// data is what a ConfigMap holds.
func (s *site) data(g gomega.Gomega, name string) map[string]string {
	var configMap corev1.ConfigMap
	err := s.client.Get(s.arena.Context(), client.ObjectKey{Namespace: s.arena.namespace, Name: name}, &configMap)
	g.ExpectWithOffset(1, err).NotTo(gomega.HaveOccurred(), "ConfigMap %s on %s", name, s.name)
	return configMap.Data
}

// lacks checks that there is no such object.
func (s *site) lacks(g gomega.Gomega, apiVersion, kind, name string) {
	_, err := s.find(apiVersion, kind, name)
	g.ExpectWithOffset(1, err).To(gomega.Satisfy(apierrors.IsNotFound), "%s %s on %s", kind, name, s.name)
}

// uid tells an object from one that was made anew under its name.
func (s *site) uid(apiVersion, kind, name string) types.UID {
	s.arena.Helper()
	u, err := s.find(apiVersion, kind, name)
	if err != nil {
		s.arena.Fatalf("%s %s on %s: %v", kind, name, s.name, err)
	}
	return u.GetUID()
}

// apply applies YAML to the member as another field manager would: a colleague, a
// controller. Of fields that others hold it takes possession.
func (s *site) apply(manager, yaml string) {
	s.arena.Helper()
	for _, u := range s.arena.read(s.client, yaml) {
		err := s.client.Apply(s.arena.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager), client.ForceOwnership)
		if err != nil {
			s.arena.Fatalf("apply %s %s to %s: %v", u.GetKind(), u.GetName(), s.name, err)
		}
	}
}

// delete deletes an object, as somebody on the member might.
func (s *site) delete(apiVersion, kind, name string) {
	s.arena.Helper()
	u, err := s.find(apiVersion, kind, name)
	if err == nil {
		err = s.client.Delete(s.arena.Context(), u, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	if err != nil {
		s.arena.Fatalf("delete %s %s on %s: %v", kind, name, s.name, err)
	}
}

// writes are what Syncline has sent to the member since a time in its audit log that may
// have changed something, whatever became of it.
func (s *site) writes(g gomega.Gomega, since fleet.AuditOffset, filters ...fleet.AuditFilter) []string {
	filters = append(filters, fleet.Writes, fleet.ByUserAgent("syncline"))
	events, _, err := s.cluster.Audit().Events(since, filters...)
	g.ExpectWithOffset(1, err).NotTo(gomega.HaveOccurred())
	return described(events)
}

// ours passes what concerns the test's own namespace and objects.
func (s *site) ours(e *auditv1.Event) bool {
	return e.ObjectRef != nil && e.ObjectRef.Namespace == s.arena.namespace
}

// isWriteOf finds a user's writes.
func isWriteOf(user string) func(auditv1.Event) bool {
	return func(e auditv1.Event) bool { return fleet.Writes(&e) && e.User.Username == user }
}

func described(events []auditv1.Event) []string {
	var all []string
	for _, e := range events {
		line := e.RequestReceivedTimestamp.Format("15:04:05.000") + " " + e.UserAgent + " " + e.Verb + " " + e.RequestURI
		if e.ResponseStatus != nil {
			line += fmt.Sprintf(" -> %d", e.ResponseStatus.Code)
		}
		all = append(all, line)
	}
	return all
}

// at is a field of an object, nil where there is none.
func at(u *unstructured.Unstructured, fields ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(u.Object, fields...)
	if err != nil {
		return err
	}
	return value
}
