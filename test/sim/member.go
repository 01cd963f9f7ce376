package sim

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// twoWriters begins the violations that must never be.
const twoWriters = "two writers"

// patience is for how long a member works on a request that sets no timeout.
const patience = time.Minute

// ledger is a member's memory of who writes to it: its audit log.
type ledger struct {
	key      types.NamespacedName
	url      *url.URL
	timeline *timeline
	tally    *tally

	mu     sync.Mutex
	locked lockedLedger
}

type lockedLedger struct {
	writers map[string]int // writes under way, by process
	highest int            // epoch
	last    string         // who wrote in it
	served  map[string]int // engagements, by process
}

func newLedger(key types.NamespacedName, timeline *timeline, tally *tally) *ledger {
	return &ledger{
		key:      key,
		url:      &url.URL{Scheme: "https", Host: key.Name, Path: "/api"},
		timeline: timeline,
		tally:    tally,
		locked:   lockedLedger{writers: map[string]int{}, served: map[string]int{}},
	}
}

// request is a write that has left its process.
type request struct {
	ledger   *ledger
	who      string
	epoch    int
	status   int           // once answered
	answered chan struct{} // closed when the answer is there
	timer    *time.Timer
}

// receive takes a write that has left its process. It is under way from now on, and takes effect
// when it has travelled and been worked on. One that takes longer than it asks the member to
// work on it is answered by then, and has its effect a while later, as late as can be.
func (l *ledger) receive(req *http.Request, travels, takes time.Duration) *request {
	r := &request{ledger: l, status: http.StatusOK, answered: make(chan struct{})}
	r.who, r.epoch = author(req.Header.Get("User-Agent"))
	l.begin(r.who)
	limit, err := time.ParseDuration(req.URL.Query().Get("timeout"))
	if err != nil {
		limit = patience
	}
	if takes > limit {
		r.status = http.StatusGatewayTimeout
		r.timer = time.AfterFunc(travels+limit, r.giveUp)
	} else {
		r.timer = time.AfterFunc(travels+takes, r.finish)
	}
	return r
}

// author is who wrote, and in which epoch, as the User-Agent says: "syncline (<who>; epoch <n>)".
func author(userAgent string) (who string, epoch int) {
	_, rest, _ := strings.Cut(userAgent, "(")
	who, number, found := strings.Cut(strings.TrimSuffix(rest, ")"), "; epoch ")
	epoch, err := strconv.Atoi(number)
	if !found || err != nil {
		panic("a write by " + userAgent) // the guard says who and when
	}
	return who, epoch
}

func (r *request) finish() {
	r.effect()
	close(r.answered)
}

func (r *request) giveUp() {
	r.ledger.tally.count(writesTimedOut)
	close(r.answered)
	time.AfterFunc(straggling, r.effect)
}

// cut has the member stop working, which it hears of a while later.
func (r *request) cut() {
	if r.timer.Stop() {
		time.AfterFunc(transit+straggling, r.effect)
	}
}

func (l *ledger) begin(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked.writers[who]++
	for other := range l.locked.writers {
		if other != who {
			l.timeline.violate(who, twoWriters+": a write to %s while one of %s is under way", l.key, other)
		}
	}
}

func (r *request) effect() {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked.writers[r.who]--; l.locked.writers[r.who] == 0 {
		delete(l.locked.writers, r.who)
	}
	if r.epoch < l.locked.highest || r.epoch == l.locked.highest && r.who != l.locked.last {
		l.timeline.violate(r.who, twoWriters+": a write to %s in epoch %d takes effect after one of %s in epoch %d",
			l.key, r.epoch, l.locked.last, l.locked.highest)
		return
	}
	l.locked.highest, l.locked.last = r.epoch, r.who
}

// engaged counts the engagements of the member with a process.
func (l *ledger) engaged(who string, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked.served[who] += by; l.locked.served[who] == 0 {
		delete(l.locked.served, who)
	}
}

// servedBy is who has the member engaged now.
func (l *ledger) servedBy() (processes []string, engagements int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who, n := range l.locked.served {
		processes = append(processes, who)
		engagements += n
	}
	return processes, engagements
}

// writtenBy reports whether the last write was a process's in an epoch, or one of it is under
// way.
func (l *ledger) writtenBy(who string, epoch int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locked.writers[who] > 0 || l.locked.last == who && l.locked.highest == epoch
}
