package placement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/criteria"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

// data reads ConfigMaps and Secrets from the hub.
func (r *Reconciler) data(ctx context.Context, kind string, key types.NamespacedName) (map[string][]byte, error) {
	if kind == "Secret" {
		var secret corev1.Secret
		err := r.Client.Get(ctx, key, &secret)
		return secret.Data, err
	}
	var configMap corev1.ConfigMap
	if err := r.Client.Get(ctx, key, &configMap); err != nil {
		return nil, err
	}
	data := make(map[string][]byte, len(configMap.Data)+len(configMap.BinaryData))
	maps.Copy(data, configMap.BinaryData)
	for name, text := range configMap.Data {
		data[name] = []byte(text)
	}
	return data, nil
}

// tooLarge is the refusal of a content that no revision can hold.
func tooLarge(err error) *revision.UnusableError {
	var size *source.TooLargeError
	if !errors.As(err, &size) {
		return nil
	}
	return &revision.UnusableError{Reason: "TooLarge", Message: size.Error()}
}

// unreadableSelector is the refusal of a selector that selects nobody and everybody alike.
func unreadableSelector(layer v1alpha1.Layered) *revision.UnusableError {
	if _, err := metav1.LabelSelectorAsSelector(layer.LayerSpec().ClusterSelector); err != nil {
		return &revision.UnusableError{Reason: "InvalidSelector", Message: fmt.Sprintf(
			"spec.clusterSelector: %s; members keep what they have until it is corrected", err)}
	}
	return nil
}

// unaskable is the refusal of a layer that asks what cannot be asked.
func unaskable(layer v1alpha1.Layered) *revision.UnusableError {
	return refusal(criteria.Compile(layer.LayerSpec()).Problems)
}

// refusals are the objects of a layer that no member can be given, whatever the member's
// facts. A template's own errors show on the bindings: they depend on the member.
func refusals(content source.Content) *revision.UnusableError {
	if content.Templated() {
		return nil
	}
	_, problems := source.Parse(content, source.Facts{})
	return refusal(problems)
}

// refusal is that of the problems that are errors; nil if there are none.
func refusal(problems []object.Problem) *revision.UnusableError {
	var messages []string
	var reason string
	for _, problem := range problems {
		if problem.Severity != object.Error {
			continue
		}
		if reason == "" {
			reason = problem.Reason
		}
		messages = append(messages, problem.Message())
	}
	if reason == "" {
		return nil
	}
	return &revision.UnusableError{Reason: reason, Message: bounded(messages)}
}

// bounded joins messages within what a condition can hold.
func bounded(messages []string) string {
	const most = 5
	if len(messages) > most {
		messages = append(messages[:most:most], fmt.Sprintf("and %d more", len(messages)-most))
	}
	return strings.Join(messages, "; ")
}
