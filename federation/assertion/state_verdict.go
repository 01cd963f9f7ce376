package assertion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/expression"
)

const (
	// maxVerdict is the API's limit of a verdict's message in bytes.
	maxVerdict = 1024
	// maxNamed is how many members a message names.
	maxNamed = 3
	// skew is how far the clock of a member's owner may be ahead of ours.
	skew = 10 * time.Second
)

// Verdict is what can be said of a StateAssertion at one time.
type Verdict struct {
	Answer expression.Answer
	// Message says why the answer is not True. It is the same on every pass that finds the
	// same, and no longer than the API allows.
	Message string
	// Members are those selected, and Observed those of them that are known.
	Members, Observed int
	// Expires is when the first of the observations that count will be too old; zero where
	// none counts.
	Expires time.Time
}

// Judge evaluates the assertion over those of the members that it selects. The order of the
// members does not matter. See the package's comment for what is True, False and Unknown.
func (s *State) Judge(members []*v1alpha1.MemberCluster, now time.Time) Verdict {
	var v Verdict
	var doubts []string
	known := map[string]any{}
	for _, m := range s.selected(members) {
		seen := s.look(m, now)
		known[m.Name] = seen.variables(m.Labels)
		v.Members++
		if seen.doubt == "" {
			v.Observed++
		} else {
			doubts = append(doubts, m.Name+": "+seen.doubt)
		}
		if at := seen.expires; !at.IsZero() && (v.Expires.IsZero() || at.Before(v.Expires)) {
			v.Expires = at
		}
	}
	if v.Members == 0 {
		v.Answer, v.Message = expression.Unknown, "the selector selects no member"
		return v
	}
	input := map[string]any{membersVariable: known}
	answer, why := s.expression.Ask(input)
	switch {
	case answer == expression.False:
		v.Answer, v.Message = answer, s.explain(input, why)
	case len(doubts) > 0:
		v.Answer, v.Message = expression.Unknown, enumerate(doubts)
	default:
		v.Answer, v.Message = answer, why
	}
	v.Message = convergence.Shorten(v.Message, maxVerdict)
	return v
}

// selected are the members that the assertion is about, in the order of their names.
func (s *State) selected(members []*v1alpha1.MemberCluster) []*v1alpha1.MemberCluster {
	var selected []*v1alpha1.MemberCluster
	for _, m := range members {
		if s.Selects(m) {
			selected = append(selected, m)
		}
	}
	slices.SortFunc(selected, func(a, b *v1alpha1.MemberCluster) int { return cmp.Compare(a.Name, b.Name) })
	return selected
}

// explain says why the assertion does not hold: in the author's words, if these have any.
func (s *State) explain(input map[string]any, why string) string {
	if s.message != nil {
		if text, err := s.message.Text(input); err == nil && text != "" {
			return text
		}
	}
	return cmp.Or(why, "the expression is false")
}

// sight is what is known of one member: everything that was asked for, or nothing. A map in
// which only some values are unknown would not do: CEL takes such a map for unequal to others.
type sight struct {
	// values by name and their age; CEL's unknown where there is a doubt.
	values, age any
	// expires is when the observation will be too old; zero if it does not count.
	expires time.Time
	// doubt says why the member is not known; empty if it is.
	doubt string
}

// unknown is CEL's value of what is not known: whatever depends on it is not known either.
var unknown = celtypes.NewUnknown(0, nil)

func (s *State) look(m *v1alpha1.MemberCluster, now time.Time) sight {
	o := s.observationOf(m)
	doubt := s.doubt(m, o, now)
	values := map[string]any{}
	for i := 0; i < len(s.Values) && doubt == ""; i++ {
		values[s.Values[i].Name], doubt = valueOf(o, s.Values[i].Name)
	}
	if doubt != "" {
		return sight{values: unknown, age: unknown, doubt: doubt}
	}
	return sight{values: values, age: max(now.Sub(o.At.Time), 0), expires: o.At.Add(s.MaxAge)}
}

// variables are what expressions see of the member.
func (seen sight) variables(labels map[string]string) map[string]any {
	if labels == nil {
		labels = map[string]string{}
	}
	return map[string]any{"labels": labels, "values": seen.values, "age": seen.age, "observed": seen.doubt == ""}
}

// observationOf is the member's observation for this assertion, and not for an earlier one of
// its name; nil if there is none.
func (s *State) observationOf(m *v1alpha1.MemberCluster) *v1alpha1.MemberObservation {
	i := slices.IndexFunc(m.Status.Observations, func(o v1alpha1.MemberObservation) bool { return o.UID == s.uid })
	if i < 0 {
		return nil
	}
	return &m.Status.Observations[i]
}

// doubt says why an observation does not count; nothing if it does.
func (s *State) doubt(m *v1alpha1.MemberCluster, o *v1alpha1.MemberObservation, now time.Time) string {
	conditions := m.Status.Conditions
	switch {
	case meta.FindStatusCondition(conditions, v1alpha1.ConditionOwnerless) != nil:
		return "no replica owns it"
	case !meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReachable):
		return "it cannot be reached"
	case o == nil && len(m.Status.Observations) >= v1alpha1.MaxObservations:
		return fmt.Sprintf("it is observed for %d other assertions, which is the limit", v1alpha1.MaxObservations)
	case o == nil || o.Generation != s.generation:
		return "not observed yet"
	case now.Sub(o.At.Time) >= s.MaxAge:
		return fmt.Sprintf("last observed more than %s ago", s.MaxAge)
	case o.At.Sub(now) > skew:
		return "observed in the future: the clocks of the managers differ"
	}
	return ""
}

// valueOf is an observed value as expressions see it, or why it is not known.
func valueOf(o *v1alpha1.MemberObservation, name string) (value any, doubt string) {
	i := slices.IndexFunc(o.Values, func(v v1alpha1.ValueObservation) bool { return v.Name == name })
	switch {
	case i < 0:
		return nil, "value " + name + ": not observed yet"
	case o.Values[i].Error != "":
		return nil, "value " + name + ": " + o.Values[i].Error
	case o.Values[i].Value == nil:
		return nil, ""
	}
	if err := json.Unmarshal(o.Values[i].Value.Raw, &value); err != nil {
		return nil, "value " + name + ": what was stored of it cannot be read"
	}
	return value, ""
}

// enumerate joins what is said of members, and names not too many of them.
func enumerate(said []string) string {
	text := strings.Join(said[:min(len(said), maxNamed)], "; ")
	if more := len(said) - maxNamed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
