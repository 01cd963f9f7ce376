package rollout

import (
	"fmt"

	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/source"
)

// Node is what a layer's precondition may know of a member's node.
type Node struct {
	Name   string            `cel:"name"`
	Labels map[string]string `cel:"labels"`
	// Capacity is the node's resources, as quantities of Kubernetes.
	Capacity map[string]string `cel:"capacity"`
}

// MemberFacts is what a layer's precondition may know of a member.
type MemberFacts struct {
	source.Facts
	// Kinds that the member serves, such as apps/v1/Deployment and v1/Pod.
	Kinds []string
	Nodes []Node
	// KindsUnknown and NodesUnknown say why these are not known; empty if they are.
	KindsUnknown, NodesUnknown string
}

// The variables of preconditions.
const (
	clusterVariable = "cluster"
	kindsVariable   = "kinds"
	nodesVariable   = "nodes"
)

// preconditions compiles what layers state in spec.when. Their limit of work lets them look
// at each of some thousand nodes.
var preconditions = expression.NewEnvironment(expression.Config{
	On: "this member", CostLimit: 250_000,
	Variables: []expression.Variable{
		expression.Named[expression.Cluster](clusterVariable),
		expression.Named[[]string](kindsVariable),
		expression.Named[[]Node](nodesVariable),
	},
})

// When is a layer's precondition: of which of the members that it selects it is to apply. It
// is immutable.
type When struct {
	// condition is nil where there is none.
	condition *expression.Program
}

// NewWhen compiles spec.when of a layer. Without an expression it is true of every member.
// The error names the column at fault and the way out.
func NewWhen(text string) (*When, error) {
	if text == "" {
		return &When{}, nil
	}
	condition, err := preconditions.Condition(text)
	if err != nil {
		return nil, fmt.Errorf("%w: mend the expression, or remove it", err)
	}
	return &When{condition: condition}, nil
}

// Needs says which facts, beside those of its MemberCluster, have to be read from a member
// before Holds can tell.
func (w *When) Needs() (kinds, nodes bool) {
	if w.condition == nil {
		return false, false
	}
	return w.condition.Reads(kindsVariable), w.condition.Reads(nodesVariable)
}

// Holds says whether the layer is to apply to the member. The text says why it is not True,
// and is the same for the same facts. Unknown is no ground for giving the member the layer, and
// none for taking it away.
func (w *When) Holds(f MemberFacts) (expression.Answer, string) {
	if w.condition == nil {
		return expression.True, ""
	}
	kinds, nodes := w.Needs()
	switch {
	case kinds && f.KindsUnknown != "":
		return expression.Unknown, "the kinds that the member serves are not known: " + f.KindsUnknown
	case nodes && f.NodesUnknown != "":
		return expression.Unknown, "the member's nodes are not known: " + f.NodesUnknown
	case w.condition.ReadsField(clusterVariable, "version") && f.Version == "":
		return expression.Unknown, "the member's version is not known yet"
	}
	answer, why := w.condition.Ask(map[string]any{
		clusterVariable: f.Cluster(), kindsVariable: f.Kinds, nodesVariable: f.Nodes,
	})
	switch {
	case answer == expression.False && why != "":
		return answer, "is not true of this member: " + why
	case answer == expression.False:
		return answer, "is not true of this member"
	}
	return answer, why
}
