package layer

import (
	"fmt"
	"reflect"

	"github.com/syncline-dev/syncline/federation/object"
)

// overridden visits every claim that loses to an enforced claim of a layer below which says
// otherwise.
func (s *strata) overridden(n *node, visit func(n *node, enforced, loser claim)) {
	for i, e := range n.claims {
		if !s.enforced[e.layer] {
			continue
		}
		for _, c := range n.claims[i+1:] {
			if contradicts(e, c) {
				visit(n, e, c)
			}
		}
		if e.shape != holds {
			return // What losers say below the node is part of the same attempt.
		}
		break
	}
	for _, c := range n.children {
		s.overridden(c, visit)
	}
}

// contradicts says whether a claim would change what an enforced one says.
func contradicts(enforced, c claim) bool {
	switch enforced.shape {
	case leaf:
		return c.shape != leaf || !reflect.DeepEqual(enforced.value, c.value)
	case gone:
		return c.shape != gone
	}
	return c.cuts || c.shape != holds
}

// overrides are the problems of layers that try to override enforced ones.
func (c *column) overrides(s *strata) []object.Problem {
	var problems []object.Problem
	s.overridden(s.root, func(n *node, enforced, loser claim) {
		did := "sets"
		if loser.shape == gone {
			did = "removes"
		}
		problems = append(problems, object.Problem{
			Severity: object.Warning,
			Layer:    c.beds[loser.layer].Ref.String(),
			Object:   c.id,
			Path:     n.path().String(),
			Reason:   object.ReasonEnforcedFieldOverridden,
			Detail: fmt.Sprintf("the layer %s what layer %s enforces, which stays: take it out here, or change it there",
				did, c.beds[enforced.layer].Ref),
		})
	})
	return problems
}
