package member

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// FieldConflict is a field that another manager on the member holds.
type FieldConflict struct {
	// Path of the field: of an error as the member writes it, of Applied.Yielded as
	// object.Path does.
	Path string
	// Manager that holds it.
	Manager string
}

// String names both.
func (c FieldConflict) String() string { return c.Path + " is held by " + c.Manager }

// Conflicts are the fields because of which Propose was refused; none for other errors.
func Conflicts(err error) []FieldConflict {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil
	}
	return fieldConflicts(status.Status())
}

// heldBy reads the manager out of what the API server says of a conflict. The rest of the
// sentence may hold times, and is left out.
var heldBy = regexp.MustCompile(`conflict with ("(?:[^"\\]|\\.)*")`)

func fieldConflicts(s metav1.Status) []FieldConflict {
	if s.Details == nil {
		return nil
	}
	var conflicts []FieldConflict
	for _, cause := range s.Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := "another manager"
		if found := heldBy.FindStringSubmatch(cause.Message); found != nil {
			manager = strings.Trim(found[1], `"`)
		}
		conflicts = append(conflicts, FieldConflict{Path: strings.TrimPrefix(cause.Field, "."), Manager: manager})
	}
	return conflicts
}

func describeConflicts(conflicts []FieldConflict) string {
	const most = 5
	texts := make([]string, 0, most)
	for _, c := range conflicts[:min(len(conflicts), most)] {
		texts = append(texts, c.String())
	}
	if more := len(conflicts) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

// Propose is Apply that takes no field from another manager: where one holds a field that
// the object sets to another value, nothing changes, and Conflicts says which those are.
func (m *Member) Propose(ctx context.Context, u *unstructured.Unstructured) (Applied, error) {
	return m.apply(ctx, u, v1alpha1.FieldManager, false)
}

// mostYields bounds how often Yield tries: managers come and go while it does.
const mostYields = 3

// Yield is Propose that leaves the fields which others hold to them, and says which they
// are. The error is an *Error.
func (m *Member) Yield(ctx context.Context, u *unstructured.Unstructured) (Applied, error) {
	var yielded []FieldConflict
	for attempt := 1; ; attempt++ {
		applied, err := m.Propose(ctx, u)
		conflicts := Conflicts(err)
		if len(conflicts) == 0 || attempt > mostYields {
			applied.Yielded = yielded
			return applied, err
		}
		rest, left, err := m.without(ctx, u, conflicts)
		if err != nil {
			return Applied{}, failed("apply", object.Of(u), err)
		}
		u, yielded = rest, append(yielded, left...)
	}
}

// without is the object without the fields that are in conflict, and which those are.
func (m *Member) without(ctx context.Context, u *unstructured.Unstructured, conflicts []FieldConflict) (rest *unstructured.Unstructured, left []FieldConflict, err error) {
	whole, err := m.typed(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	fields, err := whole.ToFieldSet()
	if err != nil {
		return nil, nil, err
	}
	inConflict := fieldpath.NewSet()
	fields.Iterate(func(p fieldpath.Path) {
		name := strings.TrimPrefix(p.String(), ".")
		if i := slices.IndexFunc(conflicts, func(c FieldConflict) bool { return c.Path == name }); i >= 0 {
			inConflict.Insert(p.Copy())
			left = append(left, FieldConflict{Path: object.PathOf(p).String(), Manager: conflicts[i].Manager})
		}
	})
	if inConflict.Empty() {
		return nil, nil, errors.New("the member names a conflict in a field that the object does not set")
	}
	content, _ := whole.RemoveItems(inConflict).AsValue().Unstructured().(map[string]any)
	return &unstructured.Unstructured{Object: content}, left, nil
}

// typed reads an object by the member's schema of its kind.
func (m *Member) typed(ctx context.Context, u *unstructured.Unstructured) (*typed.TypedValue, error) {
	kind, known, err := m.Schema(ctx, u.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if !known {
		kind = typed.DeducedParseableType
	}
	value, err := kind.FromUnstructured(u.Object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("the object does not fit the member's schema: %w", err)
	}
	return value, nil
}
