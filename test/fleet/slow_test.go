package fleet

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestOnlyStatusWritesAreSlow(t *testing.T) {
	const slow = 800 * time.Millisecond
	for _, tc := range []struct {
		method, path string
		want         time.Duration
	}{
		{http.MethodPatch, "/apis/apps/v1/namespaces/shop/deployments/web/status", slow},
		{http.MethodPut, "/apis/apps/v1/namespaces/shop/deployments/web/status", slow},
		{http.MethodGet, "/apis/apps/v1/namespaces/shop/deployments/web/status", 0},
		{http.MethodPatch, "/apis/apps/v1/namespaces/shop/deployments/web", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, arrived := time.Now(), time.Time{}
			handler := SlowStatusWrites(
				func(*http.Request) time.Duration { return slow },
				http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived = time.Now() }))
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil))
			if arrived.IsZero() || arrived.Sub(began) != tc.want {
				t.Errorf("%s %s arrived at %s after %s, want %s", tc.method, tc.path, arrived, arrived.Sub(began), tc.want)
			}
		})
	}
}
