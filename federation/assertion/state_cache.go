package assertion

import (
	"strconv"

	"k8s.io/utils/lru"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

// Cache remembers compiled StateAssertions by identity and generation, the least recently used
// forgotten first. It is safe for concurrent use.
type Cache struct {
	states *lru.Cache // key -> compiled
}

type compiled struct {
	state    *State
	problems []object.Problem
}

// NewCache remembers up to size assertions.
func NewCache(size int) *Cache { return &Cache{states: lru.New(size)} }

// State is CompileState, remembered. What it returns is shared: it must not be changed.
func (c *Cache) State(a *v1alpha1.StateAssertion) (*State, []object.Problem) {
	key := string(a.UID) + "/" + strconv.FormatInt(a.Generation, 10)
	if known, ok := c.states.Get(key); ok {
		if known, ok := known.(compiled); ok {
			return known.state, known.problems
		}
	}
	state, problems := CompileState(a)
	c.states.Add(key, compiled{state, problems})
	return state, problems
}
