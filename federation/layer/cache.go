package layer

import (
	"strings"
	"sync"

	"k8s.io/utils/lru"

	"github.com/syncline-dev/syncline/federation/object"
	"github.com/syncline-dev/syncline/federation/source"
)

// Cache remembers folds by what goes into them, so that members with the same stack share
// one, and a change of one layer reads that layer alone. It is safe for concurrent use:
// callers that ask for the same fold at the same time wait for one of them to make it.
type Cache struct {
	folds *memo[*Folded]
	beds  *memo[bed]
}

// NewCache remembers up to size folds, and eight layers for each.
func NewCache(size int) *Cache {
	return &Cache{folds: newMemo[*Folded](size), beds: newMemo[bed](size * 8)}
}

// Fold is stack.Fold(facts, schemas), remembered. A stack with a layer that has no revision
// is folded anew each time.
func (c *Cache) Fold(stack Stack, facts source.Facts, schemas Schemas) *Folded {
	var key strings.Builder
	key.WriteString(schemas.Fingerprint())
	for _, l := range stack {
		k, ok := l.key(facts)
		if !ok {
			return stack.Fold(facts, schemas)
		}
		key.WriteString("\n" + k)
	}
	return c.folds.get(key.String(), func() *Folded { return c.fold(stack, facts, schemas) })
}

func (c *Cache) fold(stack Stack, facts source.Facts, schemas Schemas) *Folded {
	beds := make([]bed, len(stack))
	for i, l := range stack {
		k, _ := l.key(facts)
		beds[i] = c.beds.get(k, func() bed { return l.read(facts) })
	}
	return foldBeds(beds, schemas)
}

// key stands for all that the layer brings to a fold; false where it cannot be told.
func (l Layer) key(facts source.Facts) (string, bool) {
	ignore, err := object.Digest(l.Ignore)
	if err != nil || l.Revision == "" {
		return "", false
	}
	parts := []string{l.Ref.Kind, l.Ref.String(), l.Revision, ignore}
	if l.Content.Templated() {
		parts = append(parts, facts.Digest())
	}
	return strings.Join(parts, "|"), true
}

// memo remembers the results of pure functions, the least recently used forgotten first.
type memo[T any] struct {
	mu sync.Mutex
	// results holds func() T: the result, or the wait for it.
	results *lru.Cache
}

func newMemo[T any](size int) *memo[T] { return &memo[T]{results: lru.New(max(size, 1))} }

func (m *memo[T]) get(key string, compute func() T) T {
	return m.result(key, compute)()
}

func (m *memo[T]) result(key string, compute func() T) func() T {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.results.Get(key); ok {
		if result, ok := known.(func() T); ok {
			return result
		}
	}
	result := sync.OnceValue(compute)
	m.results.Add(key, result)
	return result
}
