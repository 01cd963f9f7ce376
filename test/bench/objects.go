package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

const (
	oursNamespace = "bench"
	bareNamespace = "bench-bare"
	kilobyte      = 1024
	// measuredObjects is how many objects the measured layer has, the ConfigMaps first.
	measuredObjects     = 20
	measuredConfigMaps  = 10
	measuredDeployments = 5
)

// object is one object of the measured layer, as JSON has it.
type object = map[string]any

// objects are the layer that is measured: 10 ConfigMaps of 1 KB, 5 Deployments, 5 Services.
func objects(namespace string, stamps []string) []object {
	var all []object
	for i := range measuredConfigMaps {
		all = append(all, object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(namespace, fmt.Sprintf("c%d", i), stamps[len(all)]),
			"data": object{"payload": strings.Repeat("x", kilobyte)},
		})
	}
	for i := range measuredDeployments {
		name := fmt.Sprintf("d%d", i)
		all = append(all, object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(namespace, name, stamps[len(all)]),
			"spec": object{
				"replicas": 1, "selector": object{"matchLabels": object{"app": name}},
				"template": object{
					"metadata": object{"labels": object{"app": name}},
					"spec":     object{"containers": []any{object{"name": "main", "image": "registry.example.com/app:1"}}},
				},
			},
		})
	}
	for i := range measuredDeployments {
		name := fmt.Sprintf("d%d", i)
		all = append(all, object{
			"apiVersion": "v1", "kind": "Service", "metadata": metadata(namespace, name, stamps[len(all)]),
			"spec": object{"selector": object{"app": name}, "ports": []any{object{"port": 80, "protocol": "TCP"}}},
		})
	}
	return all
}

// settingsOf are n ConfigMaps of 1 KB. What is in them differs and is no better to compress
// than what people write.
func settingsOf(name string, n int) []object {
	random := rand.New(rand.NewPCG(uint64(n), kilobyte))
	all := make([]object, n)
	for i := range all {
		all[i] = object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(oursNamespace, fmt.Sprintf("%s-%d", name, i), "0"),
			"data": object{"application.properties": properties(random, kilobyte)},
		}
	}
	return all
}

// properties is a file of settings of a size.
func properties(random *rand.Rand, size int) string {
	words := strings.Fields("server client cache pool queue timeout retry limit address name level path size enabled interval backend")
	word := func() string { return words[random.IntN(len(words))] }
	var text strings.Builder
	for text.Len() < size {
		fmt.Fprintf(&text, "%s.%s.%s=%d\n", word(), word(), word(), random.IntN(100_000))
	}
	return text.String()[:size]
}

func namespaceOf(name string) object {
	return object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name}}
}

func metadata(namespace, name, stamp string) object {
	return object{"namespace": namespace, "name": name, "annotations": object{stampField: stamp}}
}

var resourceOf = map[string]string{
	"ConfigMap": configMaps.Resource, "Deployment": deployments.Resource, "Service": services.Resource,
}

// at is the place of an object on a member.
func at(member string, o object) place {
	m := o["metadata"].(object)
	return place{member, resourceOf[o["kind"].(string)], m["namespace"].(string), m["name"].(string)}
}

// layerOf is a layer for all members that holds the objects.
func layerOf(name string, order int32, objects []object) (*v1alpha1.Layer, error) {
	layer := &v1alpha1.Layer{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindLayer},
		ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: name},
		Spec:       v1alpha1.LayerSpec{Order: order, ClusterSelector: &metav1.LabelSelector{}},
	}
	for _, o := range objects {
		raw, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		layer.Spec.Manifests = append(layer.Spec.Manifests, runtime.RawExtension{Raw: raw})
	}
	return layer, nil
}
