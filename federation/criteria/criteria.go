package criteria

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/health"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/rollout"
)

// ReasonInvalidWhen is why a layer is refused whose precondition cannot be asked.
const ReasonInvalidWhen = "InvalidWhen"

// Criteria are those of one layer. They are immutable.
type Criteria struct {
	// When is nil where the layer's precondition cannot be asked: then nobody knows where it
	// applies.
	When       *rollout.When
	Health     *health.Rules
	Assertions *assertion.Set
	// Problems are what of them cannot be asked.
	Problems []object.Problem
}

// Compile prepares what a layer asks.
func Compile(spec *v1alpha1.LayerSpec) *Criteria {
	c := &Criteria{}
	var err error
	if c.When, err = rollout.NewWhen(spec.When); err != nil {
		c.Problems = append(c.Problems, object.Problem{
			Severity: object.Error, Path: "spec.when", Reason: ReasonInvalidWhen, Detail: err.Error(),
		})
	}
	var ofHealth, ofAssertions []object.Problem
	c.Health, ofHealth = health.Compile(spec.Convergence.Health)
	c.Assertions, ofAssertions = assertion.Compile(spec.Convergence.Assertions)
	c.Problems = append(append(c.Problems, ofHealth...), ofAssertions...)
	return c
}

// Cache compiles each generation of a layer once. It is safe for concurrent use.
type Cache struct{ kept *lru.Cache }

// remembered is how many layers a Cache holds at most.
const remembered = 1024

// NewCache is an empty cache.
func NewCache() *Cache { return &Cache{kept: lru.New(remembered)} }

type key struct {
	ref        layer.Ref
	uid        types.UID
	generation int64
}

// Of are the criteria of a layer.
func (c *Cache) Of(l v1alpha1.Layered) *Criteria {
	k := key{layer.RefOf(l), l.GetUID(), l.GetGeneration()}
	if found, ok := c.kept.Get(k); ok {
		return found.(*Criteria)
	}
	compiled := Compile(l.LayerSpec())
	for i := range compiled.Problems {
		compiled.Problems[i].Layer = k.ref.String()
	}
	c.kept.Add(k, compiled)
	return compiled
}
