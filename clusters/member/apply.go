package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// Applied is the member's answer to an apply.
type Applied struct {
	Observation
	// Live is the object as the member has it now.
	Live *unstructured.Unstructured
	// Yielded are the fields that were left to other managers; see Yield.
	Yielded []FieldConflict
	// Warnings are what the server warned of, such as a deprecated version.
	Warnings []string
}

// Apply makes the member hold the object, by server-side apply as v1alpha1.FieldManager,
// taking fields that others hold and refusing fields that the kind does not have. What the
// server answers is observed at once: Seen is never older than an Apply that returned.
//
// A namespaced object without a namespace is applied to "default"; the object itself is
// not changed. The error is an *Error.
func (m *Member) Apply(ctx context.Context, u *unstructured.Unstructured) (Applied, error) {
	return m.apply(ctx, u, v1alpha1.FieldManager, true)
}

func (m *Member) apply(ctx context.Context, u *unstructured.Unstructured, manager string, force bool) (Applied, error) {
	id := object.Of(u)
	body, err := json.Marshal(u.Object)
	if err != nil {
		return Applied{}, failed("apply", id, &nameError{"name", "stands on an object that is not JSON"})
	}
	at, err := m.locate(ctx, &id, u.GroupVersionKind().Version)
	if err != nil {
		return Applied{}, failed("apply", id, err)
	}
	var warned warnings
	raw, err := m.wire.do(ctx, m.wire.client.Patch(types.ApplyYAMLPatchType).
		AbsPath(at.path(id.Namespace, id.Name)...).
		Param("fieldManager", manager).
		Param("force", strconv.FormatBool(force)).
		Param("fieldValidation", metav1.FieldValidationStrict).
		WarningHandler(&warned).
		Body(body))
	if err != nil {
		m.suspect(at, err)
		return Applied{}, failed("apply", id, err)
	}
	live := &unstructured.Unstructured{}
	if err := live.UnmarshalJSON(raw); err != nil {
		return Applied{}, failed("apply", id, fmt.Errorf("the member's answer: %w", err))
	}
	seen := observe(live, m.cfg.Health)
	m.store.record(seen)
	m.watches.applied(id.GroupKind())
	return Applied{Observation: seen, Live: live, Warnings: warned}, nil
}

// preconditionOnUID is how API servers say that a precondition on the UID does not hold.
var preconditionOnUID = regexp.MustCompile(`UID in (the )?precondition`)

// isAboutUID says whether a request failed since the object has another UID than it named: a
// deletion by its precondition, a patch since a UID cannot be changed. Conflicts and invalid
// objects have other causes, too.
func isAboutUID(err error) bool {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsConflict(err):
		return preconditionOnUID.MatchString(err.Error())
	case apierrors.IsInvalid(err) && errors.As(err, &status) && status.Status().Details != nil:
		return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
	}
	return false
}

// Delete deletes an object if it is the one with the UID; its dependents follow in the
// background. One that is not there counts as deleted; if another was made under its name
// the error is ErrReplaced. From then on it is seen as Deleting; it is gone when Seen no longer
// finds it: finalizers may hold it for longer. The error is an *Error.
func (m *Member) Delete(ctx context.Context, id object.ID, version string, uid types.UID) error {
	at, err := m.locate(ctx, &id, version)
	if err != nil {
		return failed("delete", id, err)
	}
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	if err != nil {
		return failed("delete", id, err)
	}
	_, err = m.wire.do(ctx, m.wire.client.Delete().
		AbsPath(at.path(id.Namespace, id.Name)...).
		SetHeader("Content-Type", "application/json").
		Body(body))
	switch {
	case err == nil, apierrors.IsNotFound(err) && Classify(err).Reason != ReasonKindNotServed:
		m.store.deleted(id, uid)
		return nil
	case isAboutUID(err):
		return failed("delete", id, fmt.Errorf("%w (%w)", ErrReplaced, err))
	}
	m.suspect(at, err)
	return failed("delete", id, err)
}

// Get reads an object live. One that is not there is an error for which
// apierrors.IsNotFound holds. The error is an *Error.
func (m *Member) Get(ctx context.Context, id object.ID, version string) (*unstructured.Unstructured, error) {
	at, err := m.locate(ctx, &id, version)
	if err != nil {
		return nil, failed("get", id, err)
	}
	raw, err := m.wire.do(ctx, m.wire.client.Get().AbsPath(at.path(id.Namespace, id.Name)...))
	if err != nil {
		m.suspect(at, err)
		return nil, failed("get", id, err)
	}
	live := &unstructured.Unstructured{}
	if err := live.UnmarshalJSON(raw); err != nil {
		return nil, failed("get", id, fmt.Errorf("the member's answer: %w", err))
	}
	return live, nil
}

// locate finds where an object is served, and settles its namespace by the kind's scope.
func (m *Member) locate(ctx context.Context, id *object.ID, version string) (resource, error) {
	if err := checkSegment("name", id.Name); err != nil {
		return resource{}, err
	}
	at, err := m.resolve(ctx, schema.GroupVersionKind{Group: id.Group, Version: version, Kind: id.Kind})
	switch {
	case err != nil:
		return resource{}, err
	case !at.namespaced && id.Namespace != "":
		return resource{}, &scopeError{*id}
	case at.namespaced && id.Namespace == "":
		id.Namespace = metav1.NamespaceDefault
	}
	if at.namespaced {
		err = checkSegment("namespace", id.Namespace)
	}
	return at, err
}

// resolve finds where a kind is served, and fails at once while the member is away.
func (m *Member) resolve(ctx context.Context, gvk schema.GroupVersionKind) (resource, error) {
	if err := m.away(); err != nil {
		return resource{}, err
	}
	return m.kinds.resolve(ctx, gvk)
}

// away is ErrUnreachable while the probe finds the member away: a request would only hold
// a worker until it times out.
func (m *Member) away() error {
	if reason, away := m.reach.unreachable(); away {
		return &refusal{ErrUnreachable, "(" + reason + ")"}
	}
	return nil
}

// checkSegment keeps names from climbing out of their place in a URL.
func checkSegment(field, value string) error {
	if value == "" {
		return &nameError{field, "is empty"}
	}
	if problems := content.IsPathSegmentName(value); len(problems) > 0 {
		return &nameError{field, strings.Join(problems, ", ")}
	}
	return nil
}

// suspect has a group version read again when the member denies the resource itself.
func (m *Member) suspect(at resource, err error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) && classifyStatus(status.Status(), err).Reason == ReasonKindNotServed {
		m.kinds.forget(at.GroupVersion())
	}
}
