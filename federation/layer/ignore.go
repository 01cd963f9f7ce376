package layer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// cession is an ignore rule that is ready to be asked.
type cession struct {
	selector source.Selector
	pointers [][]string
}

// cede prepares a layer's ignore rules. A rule that cannot be read is a problem of the
// layer and has no effect.
func cede(rules []v1alpha1.IgnoreRule) ([]cession, []object.Problem) {
	var cessions []cession
	var problems []object.Problem
	for i, rule := range rules {
		selector, err := source.Select(rule.Target)
		if err != nil {
			problems = append(problems, object.Problem{
				Severity: object.Warning,
				Path:     object.Path("sync.ignore").Index(i).Field("target").String(),
				Reason:   object.ReasonInvalidIgnore,
				Detail:   err.Error(),
			})
			continue
		}
		c := cession{selector: selector}
		for _, path := range rule.Paths {
			c.pointers = append(c.pointers, parsePointer(path))
		}
		cessions = append(cessions, c)
	}
	return cessions, problems
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// parsePointer parts a JSON pointer (RFC 6901) into its tokens.
func parsePointer(pointer string) []string {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		tokens[i] = unescape.Replace(token)
	}
	return tokens
}

// ceded are the pointers that the home layer cedes of an object.
func ceded(cessions []cession, id object.ID, fields map[string]any) [][]string {
	var pointers [][]string
	for _, c := range cessions {
		if c.selector.Matches(id, func() map[string]string { return labelsOf(fields) }) {
			pointers = append(pointers, c.pointers...)
		}
	}
	return pointers
}

// without is the value without what the pointers point at. What it changes is copied.
func without(value any, pointers [][]string) any {
	if len(pointers) == 0 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if below, gone := descend(pointers, name); !gone {
				out[name] = without(item, below)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for i, item := range v {
			if below, gone := descend(pointers, strconv.Itoa(i)); !gone {
				out = append(out, without(item, below))
			}
		}
		return out
	}
	return value
}

// descend is what the pointers say about what is below a token, and whether one of them
// ends there.
func descend(pointers [][]string, token string) (below [][]string, ends bool) {
	for _, p := range pointers {
		if p[0] != token {
			continue
		}
		if len(p) == 1 {
			return nil, true
		}
		below = append(below, p[1:])
	}
	return below, false
}

// covers says whether one of the pointers points at the place or above it.
func covers(pointers [][]string, place []string) bool {
	return slices.ContainsFunc(pointers, func(p []string) bool {
		return len(p) <= len(place) && slices.Equal(p, place[:len(p)])
	})
}
