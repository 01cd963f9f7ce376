package e2e

import (
	"net/netip"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestF43ServiceOnMembersWithOtherAddressRanges(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: service}
spec:
  order: 100
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: Service, metadata: {name: web, namespace: $NS}, spec: {selector: {app: web}, ports: [{port: 80}]}}
`)
	a.awaitConverged("service")
	a.now("each has an address of its own range", func(g gomega.Gomega) {
		for _, s := range a.sites {
			address, _ := at(s.object(g, "v1", "Service", "web"), "spec", "clusterIP").(string)
			cidr := netip.MustParsePrefix(s.cluster.Member().ServiceCIDR)
			g.Expect(cidr.Contains(netip.MustParseAddr(address))).To(gomega.BeTrue(), "%s: %s in %s", s.name, address, cidr)
		}
		g.Expect(namesOf(a.Context(), a.hub, &corev1.ServiceList{}, client.InNamespace(a.namespace))).To(gomega.BeEmpty(), "Services on the hub")
	})
}
