package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
)

// foldFigures measures the fold of three layers of one Deployment, nothing remembered.
func foldFigures() {
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":%s}`
	parts := []string{
		`{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},` +
			`"spec":{"containers":[{"name":"web","image":"web:2.1","ports":[{"containerPort":8080}],` +
			`"env":[{"name":"DEBUG","value":"1"},{"name":"CLUSTER","value":"?"}]}]}}}`,
		`{"template":{"spec":{"containers":[{"name":"web","resources":{"requests":{"cpu":"1"}}}]}}}`,
		`{"replicas":2,"template":{"spec":{"containers":[{"name":"web","env":[{"name":"CLUSTER","value":"eu-1"},{"name":"DEBUG","value":null}]}]}}}`,
	}
	var layers []layer.Layer
	for i, part := range parts {
		layers = append(layers, layer.Layer{
			Ref:     layer.Ref{Kind: v1alpha1.KindClusterLayer, Name: fmt.Sprintf("layer-%d", i)},
			Content: source.Content{Order: int32(i), Manifests: []json.RawMessage{json.RawMessage(fmt.Sprintf(deployment, part))}},
		})
	}
	stack := layer.NewStack(layers...)
	schemas := layer.Builtin()
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if folded := stack.Fold(source.Facts{}, schemas); len(folded.Objects) != 1 || folded.Objects[0].Held {
				b.Fatal("the layers do not fold")
			}
		}
	})
	figure("fold_us", float64(result.NsPerOp())/1000, "us")
}
