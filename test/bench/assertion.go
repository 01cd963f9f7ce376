package main

import (
	"fmt"
	"testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/expression"
)

// observedPods is how many pods the measured assertion looks at.
const observedPods = 100

// assertionFigures measures asking one assertion over observed pods, compiled beforehand.
func assertionFigures() error {
	const name = "mostly-on-v21"
	set, problems := assertion.Compile([]v1alpha1.Assertion{{
		Name:    name,
		Observe: &v1alpha1.ObservedObjects{Kind: "Pod", LabelSelector: "app=web"},
		Expression: `size(objects) > 0 && size(objects.filter(p, p.spec.containers[0].image == "web:2.1")) * 100 ` +
			`>= 95 * size(objects)`,
	}})
	if len(problems) > 0 {
		return fmt.Errorf("the assertion does not compile: %v", problems)
	}
	pods := make([]map[string]any, observedPods)
	for i := range pods {
		pods[i] = object{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": object{"namespace": "shop", "name": fmt.Sprintf("web-%d", i), "labels": object{"app": "web"}},
			"spec":     object{"containers": []any{object{"name": "web", "image": "web:2.1"}}},
		}
	}
	view := assertion.View{Observed: map[string]assertion.Sight{name: {Objects: pods}}}
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if results := set.Evaluate(view); len(results) != 1 || results[0].Answer != expression.True {
				b.Fatal("the assertion does not hold")
			}
		}
	})
	figure("assertion_us", float64(result.NsPerOp())/1000, "us")
	return nil
}
