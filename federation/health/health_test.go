package health

import (
	"testing"

	"github.com/syncline-dev/syncline/federation/object"
)

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		live string
		want object.Health
	}{
		"a ConfigMap is what it is": {
			`{apiVersion: v1, kind: ConfigMap}`,
			object.Health{Status: object.Current},
		},
		"whatever is being deleted": {
			`{apiVersion: v1, kind: Namespace, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Active}}`,
			object.Health{Status: object.Terminating, Message: "is being deleted"},
		},
		"a namespace that is active": {
			`{apiVersion: v1, kind: Namespace, status: {phase: Active}}`,
			object.Health{Status: object.Current},
		},
		"a namespace that is not": {
			`{apiVersion: v1, kind: Namespace}`,
			object.Health{Status: object.InProgress, Message: "is not active yet"},
		},
		"a Deployment nobody has seen": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}}`,
			object.Health{Status: object.InProgress, Message: "0 of 1 replicas created"},
		},
		"a Deployment whose controller is behind": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1},
			  status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1,
			           conditions: [{type: Available, status: "True"}]}}`,
			object.Health{Status: object.InProgress, Message: "its controller has not seen the newest generation"},
		},
		"a Deployment that rolls": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 3},
			  status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3}}`,
			object.Health{Status: object.InProgress, Message: "2 of 3 replicas updated"},
		},
		"a Deployment with old replicas": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1},
			  status: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3}}`,
			object.Health{Status: object.InProgress, Message: "2 old replicas are being terminated"},
		},
		"a Deployment that gave up": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1},
			  status: {observedGeneration: 2, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`,
			object.Health{Status: object.Failed, Message: "Progress deadline exceeded"},
		},
		"a Deployment that is done": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1},
			  status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1,
			           conditions: [{type: Available, status: "True"}]}}`,
			object.Health{Status: object.Current},
		},
		"a definition that is established": {
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: Established, status: "True"}]}}`,
			object.Health{Status: object.Current},
		},
		"a definition that is not": {
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}`,
			object.Health{Status: object.InProgress, Message: "Install in progress"},
		},
		"a definition whose names are taken": {
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: NamesAccepted, status: "False", reason: X, message: taken}]}}`,
			object.Health{Status: object.Failed, Message: "taken"},
		},
		"an APIService without a backend": {
			`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, status: {conditions: [{type: Available, status: "False", message: no endpoints}]}}`,
			object.Health{Status: object.InProgress, Message: "is not available: no endpoints"},
		},
		"a custom object whose condition is old": {
			`{apiVersion: x.dev/v1, kind: X, metadata: {generation: 2}, status: {conditions: [{type: Ready, status: "True", observedGeneration: 1}]}}`,
			object.Health{Status: object.InProgress, Message: "its controller has not seen the newest generation"},
		},
		"a custom object that is ready": {
			`{apiVersion: x.dev/v1, kind: X, metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", observedGeneration: 2}]}}`,
			object.Health{Status: object.Current},
		},
		"a custom object that is stalled": {
			`{apiVersion: x.dev/v1, kind: X, status: {conditions: [{type: Stalled, status: "True", message: no quota}]}}`,
			object.Health{Status: object.Failed, Message: "no quota"},
		},
		"a status that makes no sense": {
			`{apiVersion: x.dev/v1, kind: X, metadata: {generation: 1}, status: {observedGeneration: one}}`,
			object.Health{Status: object.InProgress, Message: "its status cannot be read"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Of(decode(t, c.live)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
