package member

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	widgetKind    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
)

func TestKindsAreReadOncePerGroupVersion(t *testing.T) {
	f := newFakeAPI()
	m := newTestMember(t, f, nil)
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			namespaced, err := m.Namespaced(t.Context(), configMapKind)
			if err != nil || !namespaced {
				t.Errorf("got %v, %v", namespaced, err)
			}
		})
	}
	callers.Wait()
	if n := len(f.calls("GET /api/v1")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAKindIsFoundWhenItsDefinitionComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		m := newTestMember(t, f, nil)
		for range 3 {
			_, err := m.Namespaced(t.Context(), widgetKind)
			if !meta.IsNoMatchError(err) || Classify(err).Reason != ReasonKindNotServed {
				t.Errorf("got %v", err)
			}
		}
		if n := len(f.calls("GET /apis/example.com/v1")); n != 1 {
			t.Errorf("asked %d times within a second", n)
		}
		f.on("GET /apis/example.com/v1", 200, resources("example.com/v1", resourceOf("widgets", "Widget", true)))
		time.Sleep(absenceMemory)
		if _, err := m.Namespaced(t.Context(), widgetKind); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

func TestANewDefinitionEndsTheMemoryOfAbsence(t *testing.T) {
	f := newFakeAPI()
	m := newTestMember(t, f, nil)
	if _, err := m.Namespaced(t.Context(), widgetKind); err == nil {
		t.Fatal("found")
	}
	f.on("GET /apis/example.com/v1", 200, resources("example.com/v1", resourceOf("widgets", "Widget", true)))
	m.observed(definitionKind)
	if _, err := m.Namespaced(t.Context(), widgetKind); err != nil {
		t.Error(err)
	}
}

// F23: while discovery fails, the last good answer holds.
func TestTheLastGoodAnswerHolds(t *testing.T) {
	f := newFakeAPI()
	m := newTestMember(t, f, nil)
	if _, err := m.Namespaced(t.Context(), configMapKind); err != nil {
		t.Fatal(err)
	}
	f.on("GET /api/v1", 503, "down")
	m.kinds.forget(configMapKind.GroupVersion())
	if _, err := m.Namespaced(t.Context(), configMapKind); err != nil {
		t.Errorf("forgot a kind that it knew: %v", err)
	}
	_, err := m.Namespaced(t.Context(), configMapKind.GroupVersion().WithKind("Other"))
	if meta.IsNoMatchError(err) || Classify(err).Class != Transient {
		t.Errorf("an error became an absence: %v", err)
	}
}

// F22: a group that hangs holds only those who ask for it, and no longer than they like.
func TestAGroupThatHangsHoldsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeAPI()
		release := make(chan struct{})
		f.handle("GET /apis/example.com/v1", func(*http.Request) (int, any) { <-release; return 503, "down" })
		m := newTestMember(t, f, nil)
		go func() { _, _ = m.Namespaced(t.Context(), widgetKind) }()
		synctest.Wait()
		if _, err := m.Namespaced(t.Context(), configMapKind); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Namespaced(ctx, widgetKind); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(release)
	})
}
