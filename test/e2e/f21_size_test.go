package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// noise is text of a size that no compression makes much smaller; another for each seed.
func noise(seed uint64, size int) string {
	var b strings.Builder
	for i := uint64(0); b.Len() < size; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), i))
		b.WriteString(base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	return b.String()[:size]
}

// verboseDefinition is a CustomResourceDefinition in about so many bytes of YAML, most of
// which describe its fields.
func verboseDefinition(namespace string, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: books.%[1]s.example.com, labels: {e2e: %[1]s}}
spec:
  group: %[1]s.example.com
  scope: Namespaced
  names: {plural: books, singular: book, kind: Book}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
`, namespace)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "              field%d: {type: string, description: %q}\n", i,
			strings.Repeat(fmt.Sprintf("The field of number %d says what is to be said. ", i), 20))
	}
	return b.String()
}

// largeConfig is a ConfigMap with 900 KB that do not compress, as JSON: that is read fast.
func largeConfig(namespace, name string, seed uint64) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q},"data":{"blob":%q}}`,
		name, namespace, noise(seed, 900*kilobyte))
}

const kilobyte = 1000

func TestF21LargeObjectsApply(t *testing.T) {
	t.Parallel()
	a := newArena(t, "eu")
	a.patience = 3 * patience // the race detector makes work with such objects fifteen times slower
	for name, content := range map[string]string{
		"definition": verboseDefinition(a.namespace, 850*kilobyte),
		"config":     largeConfig(a.namespace, "large", 1),
		"more":       largeConfig(a.namespace, "more", 2),
	} {
		a.create(a.hub, &corev1.ConfigMap{ObjectMeta: a.onHub(name), Data: map[string]string{"all.yaml": content}})
	}
	a.apply(`
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {name: definition}
spec:
  order: 100
  clusterSelector: {}
  manifestsFrom: [{configMap: {name: definition}}]
  manifests:
  - apiVersion: $NS.example.com/v1
    kind: Book
    metadata: {name: one, namespace: $NS}
    spec: {field7: hello}
`)
	a.apply(fromConfigMap, "name: web", "name: large", "$SOURCE", "config")
	a.awaitConverged("definition", "large")
	a.now("the member has it whole, and bindings stay small", func(g gomega.Gomega) {
		g.Expect(a.site("eu").data(g, "large")["blob"]).To(gomega.HaveLen(900 * kilobyte))
		book := a.site("eu").object(g, a.namespace+".example.com/v1", "Book", "one")
		g.Expect(at(book, "spec", "field7")).To(gomega.Equal("hello"))
		g.Expect(len(asYAML(a.binding(g, "definition", "eu")))).To(gomega.BeNumerically("<", 4000))
	})
	kept := a.uids("v1", "ConfigMap", "large")

	// Another 900 KB are more than a revision holds.
	a.apply(fromConfigMap+"  - configMap: {name: more}\n", "name: web", "name: large", "$SOURCE", "config")
	a.awaitUnrendered("large", complaint{"TooLarge", []string{"split the layer in two", "bytes"}})
	a.expectKept(kept, "v1", "ConfigMap", "large")

	// As two layers they are not.
	a.apply(fromConfigMap, "name: web", "name: large", "$SOURCE", "config")
	a.apply(fromConfigMap, "name: web", "name: more", "$SOURCE", "more")
	a.awaitConverged("large", "more")
	a.expectKept(kept, "v1", "ConfigMap", "large")
}
