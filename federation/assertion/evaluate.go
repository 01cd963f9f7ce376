package assertion

import (
	"slices"
	"strings"

	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/federation/expression"
	"github.com/syncline-dev/syncline/federation/source"
)

// maxMessage bounds the message of a result, in bytes.
const maxMessage = 512

// Sight is what was seen of some objects on a member.
type Sight struct {
	// Objects as the member gave them.
	Objects []map[string]any
	// Unreadable says why they could not be read; then all that depends on them is Unknown.
	// Empty if they were read.
	Unreadable string
}

// View is all that a layer's assertions may look at on one member.
type View struct {
	Facts source.Facts
	// Layer is the layer's own objects.
	Layer Sight
	// Observed is what assertions observe, by their names.
	Observed map[string]Sight
}

// Result is the answer of one assertion.
type Result struct {
	Name   string
	Answer expression.Answer
	// Message says why the answer is not True. It has at most 512 bytes, and is the same for the
	// same view.
	Message string
}

// Evaluate asks all assertions, in the order in which the layer holds them.
func (s *Set) Evaluate(v View) []Result {
	results := make([]Result, 0, len(s.assertions))
	for _, a := range s.assertions {
		answer, message := a.evaluate(v)
		results = append(results, Result{Name: a.name, Answer: answer, Message: convergence.Shorten(message, maxMessage)})
	}
	return results
}

func (a assertion) evaluate(v View) (expression.Answer, string) {
	objects := a.objects(v)
	switch {
	case a.condition.Reads(objectsVariable) && objects.Unreadable != "":
		return expression.Unknown, "its objects cannot be read: " + objects.Unreadable
	case a.condition.Reads(layerVariable) && v.Layer.Unreadable != "":
		return expression.Unknown, "the layer's objects cannot be read: " + v.Layer.Unreadable
	case a.condition.ReadsField(clusterVariable, "version") && v.Facts.Version == "":
		return expression.Unknown, "the member's version is not known yet"
	}
	input := map[string]any{
		objectsVariable: objects.Objects, layerVariable: v.Layer.Objects, clusterVariable: v.Facts.Cluster(),
	}
	answer, why := a.condition.Ask(input)
	if answer != expression.False {
		return answer, why
	}
	if text := a.explain(input, objects, v.Layer); text != "" {
		return answer, text
	}
	if why != "" {
		return answer, "does not hold: " + why
	}
	return answer, "does not hold"
}

// objects is what the assertion knows as "objects".
func (a assertion) objects(v View) Sight {
	if a.observe == nil {
		return v.Layer
	}
	seen, ok := v.Observed[a.name]
	if !ok {
		return Sight{Unreadable: "they were not looked at yet"}
	}
	return seen
}

// explain is the assertion's own message, or "" where it has none, where that fails, and where
// it looks at anything that holds a Secret.
func (a assertion) explain(input map[string]any, objects, layer Sight) string {
	if a.message == nil ||
		a.message.Reads(objectsVariable) && !objects.presentable() ||
		a.message.Reads(layerVariable) && !layer.presentable() {
		return ""
	}
	text, err := a.message.Text(input)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

// presentable says whether values of the objects may be shown.
func (s Sight) presentable() bool {
	return s.Unreadable == "" && !slices.ContainsFunc(s.Objects, func(o map[string]any) bool {
		return o["apiVersion"] == "v1" && o["kind"] == "Secret"
	})
}
