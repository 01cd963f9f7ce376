package credential_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/syncline-dev/syncline/clusters/credential"
)

// vault is a server that accepts one token, and counts what it is asked.
type vault struct {
	*server
	token    string
	requests atomic.Int32
}

func newVault(t *testing.T, token string) *vault {
	t.Helper()
	v := &vault{token: token}
	v.server = newServer(t, func(w http.ResponseWriter, r *http.Request) {
		v.requests.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer "+v.token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		say(w, "accepted "+string(body))
	})
	return v
}

// renewing returns a client whose credentials, bad at first, are replaced by token a while
// after they were reported.
func renewing(t *testing.T, v *vault, token string, after time.Duration) (*http.Client, *atomic.Int32) {
	t.Helper()
	var (
		transport *credential.Transport
		reports   atomic.Int32
	)
	transport, client := newTransport(t, v.withToken("old"), credential.Options{OnUnauthorized: func() {
		reports.Add(1)
		time.AfterFunc(after, func() {
			if err := transport.Replace(v.withToken(token)); err != nil {
				t.Error(err)
			}
		})
	}})
	return client, &reports
}

func post(ctx context.Context, t *testing.T, client *http.Client, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, host+"/", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestARequestIsSentAgainWithNewCredentials(t *testing.T) {
	v := newVault(t, "new")
	client, reports := renewing(t, v, "new", 50*time.Millisecond)
	if code, got := post(t.Context(), t, client, strings.NewReader("body")); code != 200 || got != "accepted body" {
		t.Errorf("got %d %q", code, got)
	}
	if reports.Load() != 1 || v.requests.Load() != 2 {
		t.Errorf("%d reports, %d requests", reports.Load(), v.requests.Load())
	}
}

func TestARequestIsSentAgainOnce(t *testing.T) {
	v := newVault(t, "another")
	client, _ := renewing(t, v, "new", 0)
	if code, _ := post(t.Context(), t, client, strings.NewReader("body")); code != http.StatusUnauthorized {
		t.Errorf("got %d", code)
	}
	if v.requests.Load() != 2 {
		t.Errorf("%d requests", v.requests.Load())
	}
}

func TestABodyThatIsSpentIsNotSentAgain(t *testing.T) {
	v := newVault(t, "new")
	client, reports := renewing(t, v, "new", 0)
	spent := struct{ io.Reader }{strings.NewReader("body")}
	if code, _ := post(t.Context(), t, client, spent); code != http.StatusUnauthorized {
		t.Errorf("got %d", code)
	}
	if reports.Load() != 1 || v.requests.Load() != 1 {
		t.Errorf("%d reports, %d requests", reports.Load(), v.requests.Load())
	}
}

// Nobody has other credentials: the first request waits a moment for them, those that follow
// do not.
func TestWaitingForCredentialsIsBounded(t *testing.T) {
	v := newVault(t, "new")
	client, reports := renewing(t, v, "new", time.Hour)
	for _, most := range []time.Duration{4 * time.Second, time.Second} {
		begin := time.Now()
		if code, _ := post(t.Context(), t, client, nil); code != http.StatusUnauthorized {
			t.Errorf("got %d", code)
		}
		if took := time.Since(begin); took > most {
			t.Errorf("took %s", took)
		}
	}
	if reports.Load() != 1 {
		t.Errorf("%d reports", reports.Load())
	}
}

// The credentials were replaced while the request was under way: nobody is to be asked.
func TestARequestThatMeetsAReplacementIsSentAgainAtOnce(t *testing.T) {
	started, release := make(chan struct{}, 2), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer new" {
			say(w, "accepted")
			return
		}
		started <- struct{}{}
		<-release
		w.WriteHeader(http.StatusUnauthorized)
	})
	transport, client := newTransport(t, s.withToken("old"), credential.Options{OnUnauthorized: func() { t.Error("reported") }})
	answer := make(chan string)
	go func() {
		_, text := post(t.Context(), t, client, nil)
		answer <- text
	}()
	<-started
	replace(t, transport, s.withToken("new"))
	close(release)
	if got := <-answer; got != "accepted" {
		t.Errorf("got %q", got)
	}
}
