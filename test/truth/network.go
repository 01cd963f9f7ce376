package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
)

const (
	// longestDelay is that of what a watch tells. Each piece has a random one, and waits for
	// those before it.
	longestDelay = time.Second
	// slowShare of status writes take slowWrite.
	slowShare = 0.3
	slowWrite = 800 * time.Millisecond
)

// network is what lies between the manager and all API servers.
type network struct {
	mu     sync.Mutex
	locked traffic
}

// traffic is what has passed the network since it was last asked.
type traffic struct {
	delays       []time.Duration // of what watches told
	writes, slow int             // writes of status
}

// watchDelay is the delay that so large a share of what watches told did not exceed.
func (t traffic) watchDelay(share float64) time.Duration {
	if len(t.delays) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.delays))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func (t traffic) slowShare() float64 { return float64(t.slow) / float64(max(t.writes, 1)) }

// take is the traffic since the last call.
func (n *network) take() traffic {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.locked
	n.locked = traffic{}
	return taken
}

func (n *network) delayed(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.locked.delays = append(n.locked.delays, by)
}

func (n *network) wrote(slowly bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.locked.writes++
	if slowly {
		n.locked.slow++
	}
}

// delayWatches lets what watches tell come late, in order.
func (n *network) delayWatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			next.ServeHTTP(w, r)
			return
		}
		late := newLateWriter(w, r.Context().Done(), n.delayed)
		defer late.close()
		next.ServeHTTP(late, r)
	})
}

// slowStatusWrites has some writes of status arrive late. The journal hears of those to bindings.
func (n *network) slowStatusWrites(j *journal, next http.Handler) http.Handler {
	slow := fleet.SlowStatusWrites(n.statusDelay, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fleet.WritesStatus(r) || path.Base(path.Dir(path.Dir(r.URL.Path))) != bindings.Resource {
			slow.ServeHTTP(w, r)
			return
		}
		left, answer := j.now(), &copyingWriter{ResponseWriter: w}
		slow.ServeHTTP(answer, r)
		j.wrote(answer.content.Bytes(), left)
	})
}

// statusDelay is by how much a write of status is late.
func (n *network) statusDelay(*http.Request) time.Duration {
	slowly := rand.Float64() < slowShare
	n.wrote(slowly)
	if slowly {
		return slowWrite
	}
	return 0
}

// copyingWriter keeps a copy of what is written to it.
type copyingWriter struct {
	http.ResponseWriter
	content bytes.Buffer
}

func (c *copyingWriter) Write(content []byte) (int, error) {
	c.content.Write(content)
	return c.ResponseWriter.Write(content)
}

// lateWriter passes what is written to it after a while, and never in another order.
type lateWriter struct {
	http.ResponseWriter
	pieces chan piece
	ended  chan struct{}
}

// piece was written at a time, and is passed on when it is due.
type piece struct {
	content      []byte
	written, due time.Time
}

// piecesUnderWay is more than any watch tells within the longest delay.
const piecesUnderWay = 4096

// newLateWriter tells of each piece by how much it was delayed. What is under way when the
// client is gone is lost.
func newLateWriter(w http.ResponseWriter, gone <-chan struct{}, delayed func(time.Duration)) *lateWriter {
	late := &lateWriter{ResponseWriter: w, pieces: make(chan piece, piecesUnderWay), ended: make(chan struct{})}
	go func() {
		defer close(late.ended)
		flusher := http.NewResponseController(w)
		for p := range late.pieces {
			select {
			case <-gone:
				continue
			case <-time.After(time.Until(p.due)):
			}
			delayed(time.Since(p.written))
			if _, err := w.Write(p.content); err == nil {
				_ = flusher.Flush() // if the client is gone its request ends
			}
		}
	}()
	return late
}

// WriteHeader is not delayed: the watch has begun.
func (l *lateWriter) WriteHeader(code int) {
	l.ResponseWriter.WriteHeader(code)
	_ = http.NewResponseController(l.ResponseWriter).Flush() // as above
}

func (l *lateWriter) Write(content []byte) (int, error) {
	now := time.Now()
	l.pieces <- piece{slices.Clone(content), now, now.Add(rand.N(longestDelay))}
	return len(content), nil
}

// FlushError does nothing: each piece is flushed when it is passed on.
func (*lateWriter) FlushError() error { return nil }

// close returns when all that was written has been passed on.
func (l *lateWriter) close() {
	close(l.pieces)
	<-l.ended
}
