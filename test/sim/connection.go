package sim

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

// What the guard has to rely on, because nobody can hold it up: a request whose last byte has
// left its process is with the member's server within transit, or never; and a server that was
// told to give a request up, by its timeout or by the end of the connection, is done with it
// within straggling. Together they are less than what lies between RenewDeadline and
// LeaseDuration.
const (
	transit    = 2500 * time.Millisecond
	straggling = 2490 * time.Millisecond
)

// connection is the way from a process to a member: the transport underneath the guard.
type connection struct {
	*replica
	member *ledger
	used   bool // a request was admitted
}

// RoundTrip implements http.RoundTripper.
func (c *connection) RoundTrip(req *http.Request) (*http.Response, error) {
	c.used = true
	ctx := req.Context()
	travels, takes := c.pace()
	if err := c.dial(ctx); err != nil {
		return nil, err
	}
	httptrace.ContextClientTrace(ctx).GotConn(httptrace.GotConnInfo{})
	c.stopAt(&c.beforeSend)
	if _, err := io.ReadAll(req.Body); err != nil {
		c.world.tally.count(writesFenced)
		return nil, err
	}
	// A process that is stopped here, in front of the system call, is not held back by anybody.
	if c.dead.Load() {
		return nil, errDead
	}
	c.world.tally.count(writes)
	request := c.member.receive(req, travels, takes)
	select {
	case <-request.answered:
		c.awake.pass()
		return &http.Response{StatusCode: request.status, Body: http.NoBody}, nil
	case <-ctx.Done():
		c.awake.pass()
		c.cut(request)
		return nil, ctx.Err()
	}
}

// pace is how long a write is on its way, and how long the member works on it.
func (c *connection) pace() (travels, takes time.Duration) {
	if c.chance(c.world.hanging) {
		c.world.tally.count(writesHung)
		return c.upTo(transit), c.upTo(20 * time.Second)
	}
	return 0, time.Millisecond + c.upTo(100*time.Millisecond)
}

// dial waits for a connection, which now and then has to be made.
func (c *connection) dial(ctx context.Context) error {
	c.awake.pass()
	if !c.chance(c.world.hanging) {
		return nil
	}
	defer c.awake.pass()
	return wait(ctx, c.upTo(15*time.Second))
}

// cut tells the member that nobody waits for an answer any more, if the network lets it.
func (c *connection) cut(request *request) {
	if c.dead.Load() {
		return
	}
	c.world.tally.count(writesCut)
	if c.chance(c.world.losing) {
		c.world.tally.count(cutsLost)
		return
	}
	request.cut()
}
