package main

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parseLabels reads the value of --labels: KEY=VALUE,...
func parseLabels(text string) (map[string]string, error) {
	return labels.ConvertSelectorToLabelsMap(text, field.WithPath(field.NewPath("--labels")))
}
