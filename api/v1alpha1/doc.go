// Package v1alpha1 holds the kinds of the API group syncline.dev.
//
// It is data: types, their validation and the names of conditions, reasons and states.
// It is not logic: what a layer means is in federation, what is done about it in
// reconcilers. The two layer kinds share one spec and one status, and Layered lets code
// treat them as one.
//
// Deadlines, rollouts over members and assertions have no field yet. They will live beside
// LayerSpec.Sync, as spec.convergence and spec.rollout.
//
// +kubebuilder:object:generate=true
// +groupName=syncline.dev
package v1alpha1
