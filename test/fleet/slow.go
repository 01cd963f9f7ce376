package fleet

import (
	"net/http"
	"strings"
	"time"
)

// SlowStatusWrites has writes of status arrive later, for a Gateway. It asks by how much for each
// one that comes, from several goroutines at once; one whose client hangs up meanwhile is lost.
func SlowStatusWrites(delay func(*http.Request) time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if WritesStatus(r) {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(delay(r)):
			}
		}
		next.ServeHTTP(w, r)
	})
}

// WritesStatus says whether a request to an API server writes an object's status.
func WritesStatus(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/status") && (r.Method == http.MethodPatch || r.Method == http.MethodPut)
}
