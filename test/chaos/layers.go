package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/syncline-dev/syncline/test/install"
)

// What the layers have on members: "kept" stays as it is, for vandals to change; "moving"
// changes all the time.
const (
	keptNamespace = "chaos"
	keptValue     = "as it should be"

	baseLayers = `
apiVersion: v1
kind: Namespace
metadata: {name: fleet}
---
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {namespace: fleet, name: base}
spec:
  order: 0
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: Namespace, metadata: {name: chaos}}
---
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {namespace: fleet, name: kept}
spec:
  order: 100
  clusterSelector: {}
  manifests:
`
	movingLayer = `
apiVersion: syncline.dev/v1alpha1
kind: Layer
metadata: {namespace: fleet, name: moving}
spec:
  order: 200
  clusterSelector: {}
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: chaos, name: moving-1}, data: {stamp: "%[1]d"}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: chaos, name: moving-2}, data: {stamp: "%[1]d"}}
`
)

// Their numbers have no divisor in common: of one object, no field is edited twice in a row.
var (
	keptNames  = []string{"kept-1", "kept-2", "kept-3"}
	keptFields = []string{"a", "b", "c", "d"}
)

// furnish makes the layers.
func (s *stage) furnish(ctx context.Context) error {
	var text strings.Builder
	text.WriteString(baseLayers)
	for _, name := range keptNames {
		fmt.Fprintf(&text, "  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: chaos, name: %s}, data: {", name)
		for _, field := range keptFields {
			fmt.Fprintf(&text, "%s: %s, ", field, keptValue)
		}
		text.WriteString("}}\n")
	}
	if err := install.ApplyFrom(ctx, s.fleet.Hub(), strings.NewReader(text.String())); err != nil {
		return err
	}
	return s.edit(ctx, 0)
}

// edit changes the layer "moving".
func (s *stage) edit(ctx context.Context, stamp int) error {
	return install.ApplyFrom(ctx, s.fleet.Hub(), strings.NewReader(fmt.Sprintf(movingLayer, stamp)))
}

// keepEditing edits until ctx is done.
func (s *stage) keepEditing(ctx context.Context) error {
	ticker := time.NewTicker(s.pace.edit)
	defer ticker.Stop()
	for stamp := 1; ; stamp++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := s.edit(ctx, stamp); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
