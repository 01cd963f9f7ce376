package member

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/lru"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

const (
	// indexMemory is how long a member's index of schemas is taken for current. A kind that
	// it lacks is looked for at once.
	indexMemory = time.Minute
	// sharedSchemas is how many group versions a SchemaCache holds.
	sharedSchemas = 256
)

// SchemaCache holds the schemas of members' group versions by the hash of their content,
// as the members' API servers give it: members that serve the same share one.
type SchemaCache struct {
	byHash *lru.Cache // string -> groupVersionSchema
}

// NewSchemaCache returns an empty cache for any number of members.
func NewSchemaCache() *SchemaCache { return &SchemaCache{byHash: lru.New(sharedSchemas)} }

// groupVersionSchema holds the types of one group version.
type groupVersionSchema map[schema.GroupVersionKind]typed.ParseableType

// schemas finds the schema of a kind in a member's OpenAPI v3.
type schemas struct {
	wire   *wire
	shared *SchemaCache

	mu     sync.Mutex
	locked lockedIndex
}

type lockedIndex struct {
	index  map[string]string // group version path -> URL, with the hash in it
	readAt time.Time
}

// get returns the type of a kind; false if the member publishes none.
func (s *schemas) get(ctx context.Context, gvk schema.GroupVersionKind) (typed.ParseableType, bool, error) {
	path := "apis/" + gvk.GroupVersion().String()
	if gvk.Group == "" {
		path = "api/" + gvk.Version
	}
	url, err := s.url(ctx, path)
	if err != nil || url == "" {
		return typed.ParseableType{}, false, err
	}
	types, err := s.load(ctx, url)
	if err != nil {
		return typed.ParseableType{}, false, fmt.Errorf("schema of %s: %w", gvk.GroupVersion(), err)
	}
	found, ok := types[gvk]
	return found, ok, nil
}

// url looks a group version up in the index. While the index cannot be read again, the
// last good one holds.
func (s *schemas) url(ctx context.Context, path string) (string, error) {
	known, fresh := s.lookup(path)
	if fresh && known != "" {
		return known, nil
	}
	index, err := s.readIndex(ctx)
	if err != nil {
		if known != "" {
			return known, nil
		}
		return "", err
	}
	s.remember(index)
	return index[path], nil
}

func (s *schemas) lookup(path string) (url string, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.locked.index[path], time.Since(s.locked.readAt) < indexMemory
}

func (s *schemas) remember(index map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = lockedIndex{index: index, readAt: time.Now()}
}

func (s *schemas) readIndex(ctx context.Context) (map[string]string, error) {
	raw, err := s.wire.get(ctx, "/openapi/v3")
	if err != nil {
		return nil, fmt.Errorf("index of schemas: %w", err)
	}
	var discovery handler3.OpenAPIV3Discovery
	if err := json.Unmarshal(raw, &discovery); err != nil {
		return nil, fmt.Errorf("index of schemas: %w", err)
	}
	index := make(map[string]string, len(discovery.Paths))
	for path, gv := range discovery.Paths {
		index[path] = gv.ServerRelativeURL
	}
	return index, nil
}

// load takes types from the shared cache or reads them. The URL is the key: it holds the
// hash of the content.
func (s *schemas) load(ctx context.Context, url string) (groupVersionSchema, error) {
	if cached, found := s.shared.byHash.Get(url); found {
		return cached.(groupVersionSchema), nil
	}
	raw, err := s.wire.getURI(ctx, url)
	if err != nil {
		return nil, err
	}
	types, err := parseSchemas(raw)
	if err != nil {
		return nil, err
	}
	s.shared.byHash.Add(url, types)
	return types, nil
}

func parseSchemas(raw []byte) (groupVersionSchema, error) {
	var document spec3.OpenAPI
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	if document.Components == nil {
		return nil, nil
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(document.Components.Schemas, false)
	if err != nil {
		return nil, err
	}
	parser := &typed.Parser{}
	parser.Schema.Types = converted.Types
	types := groupVersionSchema{}
	for name, definition := range document.Components.Schemas {
		for _, gvk := range kindsOf(definition) {
			types[gvk] = parser.Type(name)
		}
	}
	return types, nil
}

// kindsOf reads the extension that says which kinds a definition is for.
func kindsOf(definition *spec.Schema) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	_ = definition.Extensions.GetObject("x-kubernetes-group-version-kind", &kinds) // absent on parts of kinds
	return kinds
}
