package layer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// cession is an ignore rule that is ready to be asked.
type cession struct {
	selector source.Selector
	// when must be true of the object; nil always is.
	when     *expression.Predicate
	pointers [][]string
	// path of the rule in its layer.
	path object.Path
}

// cede prepares a layer's ignore rules. A rule that cannot be read is a problem of the
// layer and has no effect.
func cede(rules []v1alpha1.IgnoreRule) ([]cession, []object.Problem) {
	var cessions []cession
	var problems []object.Problem
	for i, rule := range rules {
		path := object.Path("sync.ignore").Index(i)
		selector, err := source.Select(rule.Target)
		if err != nil {
			problems = append(problems, invalidIgnore(path.Field("target"), err.Error()))
			continue
		}
		c := cession{selector: selector, path: path}
		if rule.When != "" {
			if c.when, err = expression.NewPredicate(rule.When); err != nil {
				problems = append(problems, invalidIgnore(path.Field("when"), err.Error()))
				continue
			}
		}
		for _, pointer := range rule.Paths {
			c.pointers = append(c.pointers, parsePointer(pointer))
		}
		cessions = append(cessions, c)
	}
	return cessions, problems
}

func invalidIgnore(path object.Path, detail string) object.Problem {
	return object.Problem{
		Severity: object.Warning, Path: path.String(), Reason: object.ReasonInvalidIgnore, Detail: detail,
	}
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

// ceded are the pointers that a layer's rules cede of an object, which is given whole. A
// rule that cannot be decided for the object is a problem, and has no effect on it.
func ceded(cessions []cession, id object.ID, whole map[string]any) ([][]string, []object.Problem) {
	var pointers [][]string
	var problems []object.Problem
	for _, c := range cessions {
		if !c.selector.Matches(id, func() map[string]string { return labelsOf(whole) }) {
			continue
		}
		if c.when != nil {
			answer, why := c.when.Ask(whole)
			if answer == expression.Unknown {
				problems = append(problems, invalidIgnore(c.path.Field("when"), why))
			}
			if answer != expression.True {
				continue
			}
		}
		pointers = append(pointers, c.pointers...)
	}
	return pointers, problems
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
